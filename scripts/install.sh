# How anything gets installed: said first, then done, and only where that is ours to do. Sourced, not run.

say() {
    echo "$*" >&2
}

# offer WHAT COMMAND: runs COMMAND to install WHAT. With SETUP=no, or for a command that takes other
# rights than this user's, prints it instead. Status 0 only if it was run and succeeded.
offer() {
    case "${SETUP:-yes} $2" in
        no\ * | *\ sudo\ *)
            say "$1 is missing. To install it:"
            say "    $2"
            return 1
            ;;
    esac
    say "$1 is missing. Installing it:"
    say "    $2"
    DEBIAN_FRONTEND=noninteractive sh -c "$2" >&2
}

# The command that installs Debian packages: for root as it is, for anybody else to be copied.
apt_install() {
    if [ "$(id -u)" -eq 0 ]; then
        echo "apt-get install -y --no-install-recommends $*"
    else
        echo "sudo apt-get install -y --no-install-recommends $*"
    fi
}

has_apt() {
    command -v apt-get >/dev/null 2>&1 && command -v apt-cache >/dev/null 2>&1
}

# A fresh image knows no package until its lists have been fetched once.
refresh_apt() {
    [ "${apt_is_fresh:-no}" = no ] && [ "$(id -u)" -eq 0 ] && [ "${SETUP:-yes}" != no ] || return 0
    apt_is_fresh=yes
    say "Fetching the list of packages: apt-get update"
    apt-get update -qq >&2 || say "apt-get update failed: going on with the list there is"
}

# The version that apt would install of a package; nothing where it has none.
apt_candidate() {
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '^(none)$' || true
}

# at_least 1.95.0 1.89: is the first version the second one or newer? Two parts count.
at_least() {
    [ "$(version_number "$1")" -ge "$(version_number "$2")" ]
}

version_number() {
    echo "$1" | awk -F '[.+-]' '{ print $1 * 10000 + $2 }'
}
