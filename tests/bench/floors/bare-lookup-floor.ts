// The floor of lookups: the same bytes at once, with nothing decided.
import { reply, serveLookupFloor } from "./serve-lookup-floor.ts";

serveLookupFloor(reply);
