// mongosh --nodb init.js: joins the members of the replica set rs0 and makes the user that the storage address names.
// May run any number of times.
const { readFileSync } = require("node:fs");

const read = (name) =>
  readFileSync(`${process.env.SECRETS || "/run/secrets"}/${name}`, "utf8").trim();
const members = (process.env.MEMBERS || "mongo-1:27017,mongo-2:27017,mongo-3:27017").split(",");
const storage = new URL(read("storage_url").replace(/@[^/]*/, "@members"));

const root = `mongodb://root:${encodeURIComponent(read("mongo_root_password"))}`;
db = connect(`${root}@${members[0]}/admin?directConnection=true`);
try {
  rs.status();
} catch (error) {
  if (error.codeName !== "NotYetInitialized") throw error;
  rs.initiate({ _id: "rs0", members: members.map((host, _id) => ({ _id, host })) });
}

// Whichever member is the primary, once there is one.
db = connect(`${root}@${members.join()}/admin?replicaSet=rs0&serverSelectionTimeoutMS=60000`);
const database = db.getSiblingDB(storage.pathname.slice(1));
if (database.getUser(storage.username) === null) {
  database.createUser({
    user: storage.username,
    pwd: decodeURIComponent(storage.password),
    // dbAdmin: collStats, and collMod for tables whose deletes travel.
    roles: ["readWrite", "dbAdmin"],
  });
}
