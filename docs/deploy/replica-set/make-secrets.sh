#!/bin/sh
# Makes the secrets of compose.yaml that are missing, in ./secrets. What is there stays.
set -eu
cd "$(dirname "$0")"

# Nobody else enters the folder. The files themselves are read by the user of the container.
mkdir -p secrets
chmod 700 secrets

make() {
	[ -e "secrets/$1" ] && return
	# Named when it is whole, so that one that is cut short is never used.
	"$2" "$3" >"secrets/.$1"
	chmod 644 "secrets/.$1"
	mv "secrets/.$1" "secrets/$1"
	echo "Made secrets/$1"
}

random() {
	od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'
}

storage_url() {
	members=mongo-1:27017,mongo-2:27017,mongo-3:27017
	echo "mongodb://repsync:$(random "$1")@$members/repsync?replicaSet=rs0"
}

make admin_password random 16
make sync_key random 32
make metrics_token random 32
make mongo_key random 384
make mongo_root_password random 32
make storage_url storage_url 32
