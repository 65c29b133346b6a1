package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// secured returns the variables of TLS, with a certificate that is its own authority.
func secured(t *testing.T) []string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(folder, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	pemFile := write("own.pem", "CERTIFICATE", certificate)
	keyFile := write("own.key", "PRIVATE KEY", private)
	return []string{"TRANSPORT=tls", "TLS_CA=" + pemFile, "TLS_CERTIFICATE=" + pemFile, "TLS_KEY=" + keyFile}
}

// sock returns the variables of a Unix socket. The folder of a test is too deep for its path.
func sock(t *testing.T) []string {
	folder, err := os.MkdirTemp("", "go-grpc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return []string{"TRANSPORT=unix", "UNIX_SOCKET=" + filepath.Join(folder, "s")}
}
