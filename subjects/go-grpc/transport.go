package main

import (
	"log"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"bookend-contract-go"
)

var transports = []string{"h2c", "tls", "unix"}

func serverCredentials() credentials.TransportCredentials {
	if contract.Transport(transports...) != "tls" {
		return insecure.NewCredentials()
	}
	secured, err := credentials.NewServerTLSFromFile(
		contract.Text("TLS_CERTIFICATE", ""), contract.Text("TLS_KEY", ""))
	if err != nil {
		log.Fatal(err)
	}
	return secured
}

func clientCredentials() credentials.TransportCredentials {
	if contract.Transport(transports...) != "tls" {
		return insecure.NewCredentials()
	}
	secured, err := credentials.NewClientTLSFromFile(contract.Text("TLS_CA", ""), "")
	if err != nil {
		log.Fatal(err)
	}
	return secured
}
