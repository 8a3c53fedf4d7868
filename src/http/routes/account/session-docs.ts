import { headerDoc } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
} from "../../reputation-docs.ts";
import { Account, Session, SignIn, SignUp, statusOf } from "../../reputation-schemas.ts";

const COOKIE = { "Set-Cookie": headerDoc("repsync_session, HttpOnly and SameSite=Strict") };

/** Documents of signup and sessions. */
export const SESSION_DETAILS = {
  signUp: {
    operationId: "signUp",
    tags: ["account"],
    summary: "Make an account and its profile",
    security: [],
    requestBody: bodyDoc(SignUp),
    responses: {
      201: dataDoc("Made", Account),
      ...problemDocs({
        ...BODY_PROBLEMS,
        403: "Signing up is disabled",
        409: "Username or e-mail address taken",
        429: "Too many attempts from this address",
      }),
    },
  },
  signIn: {
    operationId: "signIn",
    tags: ["account"],
    summary: "Begin a session",
    security: [],
    requestBody: bodyDoc(SignIn),
    responses: {
      200: dataDoc("Begun", Session, COOKIE),
      ...problemDocs({
        ...BODY_PROBLEMS,
        401: "Username or password wrong",
        429: "Too many failures of this account or from this address",
      }),
    },
  },
  signOut: {
    operationId: "signOut",
    tags: ["account"],
    summary: "End the session of the token",
    security: USER_SECURITY,
    responses: {
      200: dataDoc("Ended", statusOf("SignOut", "ended"), COOKIE),
      ...problemDocs(USER_PROBLEMS),
    },
  },
};
