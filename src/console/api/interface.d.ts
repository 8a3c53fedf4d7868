// Made from docs/openapi.json by UPDATE_DOCS=1 npm test tests/docs: do not change it by hand.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["findPlaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["compareTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/compare-sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["compareTableStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/deleted/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeleted"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/digest/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDigest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/pull/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["pullPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/push/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pushRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/rejected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRejectedRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/rejected/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readRejectedRecord"];
        put?: never;
        post?: never;
        delete: operations["dropRejectedRecord"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/rejected/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["retryRejectedRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/rows/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSyncRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readSyncRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelSyncRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/runs/{run_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["watchSyncRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/schema/{table_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readTableSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readSyncStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["triggerSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sync/trigger-sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["triggerSyncStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAccountUsage"];
        put?: never;
        post?: never;
        delete: operations["eraseSomebody"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["setPassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["changePlan"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["releaseName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["restoreAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{username}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["suspendAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit/heads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAuditHeads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verifyAuditLog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["checkHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["checkLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["checkReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAccount"];
        put?: never;
        post?: never;
        delete: operations["eraseAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/accesses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listApiKeys"];
        put?: never;
        post: operations["issueApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/consents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConsents"];
        put?: never;
        post: operations["grantConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/consents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeConsent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["changeProfile"];
        trace?: never;
    };
    "/v1/me/reputation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["explainReputation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/profiles/{username}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["lookUpProfile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/profiles/{username}/platforms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlatforms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/profiles/{username}/reputation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["lookUpReputation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["signIn"];
        delete: operations["signOutEverywhere"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readSignUp"];
        put?: never;
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Access: {
            /** @description Empty when that account is erased */
            account: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @enum {string|null} */
            code: "invalid_request" | "api_key_missing" | "api_key_invalid" | "api_key_revoked" | "api_key_expired" | "token_missing" | "token_invalid" | "token_expired" | "credentials_invalid" | "account_suspended" | "consent_required" | "forbidden" | "profile_not_found" | "not_found" | "method_not_allowed" | "username_taken" | "email_taken" | "conflict" | "body_too_large" | "rate_limited" | "quota_exceeded" | "internal_error" | "unavailable" | null;
            /** @enum {string} */
            decision: "allowed" | "denied";
            id: string;
            /** @enum {string} */
            purpose: "reputation_lookup" | "profile_lookup" | "platforms_lookup";
            request_id: string;
        };
        AccessList: {
            items: components["schemas"]["Access"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        AccessListReply: {
            data: components["schemas"]["AccessList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Account: {
            email: string;
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
            /** @enum {string} */
            role: "user" | "administrator";
            username: string;
        };
        AccountErasure: {
            /** @constant */
            status: "erased";
            username: string;
        };
        AccountErasureReply: {
            data: components["schemas"]["AccountErasure"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AccountItem: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Empty when there is none */
            email: string;
            /**
             * Format: date-time
             * @description With a password here
             */
            last_sign_in_at: string | null;
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
            /** @enum {string} */
            role: "user" | "administrator";
            /** @enum {string} */
            status: "active" | "suspended";
            username: string;
        };
        AccountItemList: {
            items: components["schemas"]["AccountItem"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        AccountItemListReply: {
            data: components["schemas"]["AccountItemList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AccountItemReply: {
            data: components["schemas"]["AccountItem"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AccountReply: {
            data: components["schemas"]["Account"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AccountUsage: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Empty when there is none */
            email: string;
            /**
             * Format: date-time
             * @description With a password here
             */
            last_sign_in_at: string | null;
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
            /** @enum {string} */
            role: "user" | "administrator";
            /** @enum {string} */
            status: "active" | "suspended";
            usage: components["schemas"]["Usage"];
            username: string;
        };
        AccountUsageReply: {
            data: components["schemas"]["AccountUsage"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        ApiKey: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string | null;
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_used_at: string | null;
            last4: string;
            name: string;
            /** @constant */
            prefix: "rep_live_";
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
        };
        ApiKeyList: {
            items: components["schemas"]["ApiKey"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        ApiKeyListReply: {
            data: components["schemas"]["ApiKeyList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        ApiKeyReply: {
            data: components["schemas"]["ApiKey"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        /**
         * @example {
         *       "name": "shop"
         *     }
         */
        ApiKeyRequest: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at?: string | null;
            name: string;
        };
        AuditDoneEvent: {
            chains: number;
            /** @description The first thing that is wrong; null when the log is whole */
            problem: {
                chain_id: string;
                kind: string;
                message: string;
                /** @description Null when it is not one record's */
                seq: number | null;
            } | null;
            records: number;
            /** @constant */
            type: "done";
        };
        AuditErrorEvent: {
            error: string;
            /** @constant */
            type: "error";
        };
        AuditFinishedEvent: {
            /** @constant */
            type: "finished";
        };
        AuditHead: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            chain_id: string;
            chain_number: number;
            hash: string;
            seq: number;
            signature: string;
        };
        AuditHeads: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @constant */
            format: "repsync.audit.heads.v1";
            /** @description By the numbers of their chains */
            heads: components["schemas"]["AuditHead"][];
        };
        AuditHeadsReply: {
            data: components["schemas"]["AuditHeads"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AuditItem: {
            /** @description The caller or administrator; empty when that account is gone, and for the command line */
            account: string;
            /** @description Of an administrator */
            action: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /**
             * @description Null when allowed
             * @enum {string|null}
             */
            code: "invalid_request" | "api_key_missing" | "api_key_invalid" | "api_key_revoked" | "api_key_expired" | "token_missing" | "token_invalid" | "token_expired" | "credentials_invalid" | "account_suspended" | "consent_required" | "forbidden" | "profile_not_found" | "not_found" | "method_not_allowed" | "username_taken" | "email_taken" | "conflict" | "body_too_large" | "rate_limited" | "quota_exceeded" | "internal_error" | "unavailable" | null;
            /** @enum {string} */
            decision: "allowed" | "denied";
            id: string;
            /** @enum {string} */
            kind: "lookup" | "admin";
            /**
             * @description Of a lookup
             * @enum {string|null}
             */
            purpose: "reputation_lookup" | "profile_lookup" | "platforms_lookup" | null;
            request_id: string;
            /** @description Whom it was about, where `account` of the query names them: the log itself has no names */
            subject: string | null;
        };
        AuditItemList: {
            items: components["schemas"]["AuditItem"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        AuditItemListReply: {
            data: components["schemas"]["AuditItemList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        AuditProgressEvent: {
            records: number;
            /** @constant */
            type: "progress";
        };
        AuditVerificationEvent: components["schemas"]["AuditProgressEvent"] | components["schemas"]["AuditDoneEvent"] | components["schemas"]["AuditErrorEvent"] | components["schemas"]["AuditFinishedEvent"];
        CommitFailure: {
            error: string;
            table: string;
            /** @constant */
            upserted: 0;
        };
        CompareDifferenceEvent: {
            /** @description The row; null at the end that does not have it. Integers beyond 2^53 are strings */
            here: {
                [key: string]: unknown;
            } | null;
            /** @description The key columns */
            key: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            kind: "different" | "missing_here" | "missing_there";
            /** @description The row; null at the end that does not have it. Integers beyond 2^53 are strings */
            there: {
                [key: string]: unknown;
            } | null;
            /** @constant */
            type: "difference";
        };
        CompareDoneEvent: {
            different: number;
            /** @description Rows there that are left out, as the people whom they name were erased here; only where there are any */
            erased?: number;
            examples: {
                different: {
                    [key: string]: unknown;
                }[];
                kept?: {
                    /** @description The key columns */
                    key: {
                        [key: string]: unknown;
                    };
                    /** @enum {string} */
                    reason: "update_columns" | "refused" | "newer" | "deletes_unknown" | "owner";
                }[];
                missing_here: {
                    [key: string]: unknown;
                }[];
                missing_there: {
                    [key: string]: unknown;
                }[];
            };
            /** @description Rows that stay as they are: the repair could not change them, or their owner has them otherwise */
            kept?: number;
            matched: number;
            missing_here: number;
            missing_there: number;
            /** @description Rows that the repair changed */
            repaired?: number;
            table: string;
            /** @constant */
            type: "done";
        };
        CompareErrorEvent: {
            error: string;
            table: string;
            /** @constant */
            type: "error";
        };
        CompareEvent: components["schemas"]["CompareStartEvent"] | components["schemas"]["CompareProgressEvent"] | components["schemas"]["CompareDifferenceEvent"] | components["schemas"]["CompareDoneEvent"] | components["schemas"]["CompareErrorEvent"] | components["schemas"]["RunFinishedEvent"];
        CompareProgressEvent: {
            /** @description Rows of either end that were looked at so far */
            rows: number;
            /** @constant */
            type: "progress";
        };
        /**
         * @example {
         *       "table": "profiles"
         *     }
         */
        CompareRequest: {
            /**
             * @description With push or pull: remove what only the end being repaired has
             * @default false
             */
            delete?: boolean;
            /** @description Rows of a table that may be deleted at an end; null for the table's own limit */
            max_deletes?: number | null;
            /**
             * @description push: send the rows that differ; pull: fetch them; newest: copy missing ones both ways and keep the newer of two; null changes nothing
             * @enum {string|null}
             */
            repair?: "push" | "pull" | "newest" | null;
            /** @description Name of a table of the registry */
            table: string;
        };
        CompareResult: {
            different: number;
            /** @description Rows there that are left out, as the people whom they name were erased here; only where there are any */
            erased?: number;
            examples: {
                different: {
                    [key: string]: unknown;
                }[];
                kept?: {
                    /** @description The key columns */
                    key: {
                        [key: string]: unknown;
                    };
                    /** @enum {string} */
                    reason: "update_columns" | "refused" | "newer" | "deletes_unknown" | "owner";
                }[];
                missing_here: {
                    [key: string]: unknown;
                }[];
                missing_there: {
                    [key: string]: unknown;
                }[];
            };
            /** @description Rows that stay as they are: the repair could not change them, or their owner has them otherwise */
            kept?: number;
            matched: number;
            missing_here: number;
            missing_there: number;
            /** @description Rows that the repair changed */
            repaired?: number;
        };
        CompareRun: {
            different: number;
            duration_ms: number;
            /** @description Rows there that are left out, as the people whom they name were erased here; only where there are any */
            erased?: number;
            /** @description Why it failed; only when it did */
            error?: string;
            /**
             * Format: date-time
             * @description Null while it runs
             */
            finished_at: string | null;
            /** @description Rows that stay as they are: the repair could not change them, or their owner has them otherwise */
            kept?: number;
            /** @constant */
            kind: "compare";
            matched: number;
            missing_here: number;
            missing_there: number;
            /** @enum {string|null} */
            repair: "push" | "pull" | "newest" | null;
            /** @description Rows that the repair changed */
            repaired?: number;
            run_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            /** @enum {string} */
            status: "running" | "success" | "partial" | "failed";
            table: string;
            /** @enum {string} */
            trigger: "api" | "stream" | "cli" | "schedule";
        };
        CompareStartEvent: {
            /** @enum {string|null} */
            repair: "push" | "pull" | "newest" | null;
            table: string;
            /** @description Rows here; null when not known */
            total_records: number | null;
            /** @constant */
            type: "start";
        };
        ConfigError: {
            error: string;
            /** @constant */
            type: "config_error";
        };
        Consent: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            granted_at: string;
            id: number;
            /** @enum {string} */
            purpose: "reputation_lookup" | "profile_lookup" | "platforms_lookup";
            /** @enum {string} */
            status: "active" | "revoked" | "expired" | "superseded";
        };
        /**
         * @example {
         *       "purpose": "reputation_lookup"
         *     }
         */
        ConsentGrant: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at?: string | null;
            /** @enum {string} */
            purpose: "reputation_lookup" | "profile_lookup" | "platforms_lookup";
        };
        ConsentList: {
            items: components["schemas"]["Consent"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        ConsentListReply: {
            data: components["schemas"]["ConsentList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        ConsentReply: {
            data: components["schemas"]["Consent"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        /**
         * @example {
         *       "table": "notes",
         *       "items": [
         *         {
         *           "key": {
         *             "name": "a"
         *           },
         *           "deleted_at": "2026-01-02T03:04:05Z"
         *         }
         *       ],
         *       "next_cursor": null,
         *       "cursor": "17",
         *       "earliest_available": "2026-01-01T00:00:00Z",
         *       "server_time": "2026-01-02T03:05:00Z"
         *     }
         */
        DeletedPage: {
            /** @description Where the next run goes on; empty: at the start */
            cursor: string;
            /**
             * Format: date-time
             * @description Since when the record of deletes is complete
             */
            earliest_available: string;
            items: components["schemas"]["DeletedRow"][];
            /** @description Null on the last page */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            server_time: string;
            table: string;
        };
        DeletedRow: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            deleted_at: string;
            /** @description The key columns */
            key: {
                [key: string]: unknown;
            };
        };
        DigestPage: {
            columns: string[];
            format: string;
            has_more: boolean;
            records?: {
                [key: string]: unknown;
            }[];
            segments: components["schemas"]["DigestSegment"][];
            table: string;
        };
        DigestSegment: {
            count: number;
            digest: string;
            through: unknown[] | null;
        };
        DroppedRecord: {
            /** @constant */
            status: "dropped";
        };
        Erasure: {
            /** @constant */
            status: "erased";
        };
        ErasureReply: {
            data: components["schemas"]["Erasure"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Explanation: {
            points: components["schemas"]["PlatformPoints"][];
            score: number;
            score_version: string;
            star_level: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            username: string;
        };
        ExplanationReply: {
            data: components["schemas"]["Explanation"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        FieldProblem: {
            detail: string;
            pointer: string;
        };
        Health: {
            /** @enum {string} */
            db: "ok" | "unavailable";
            /** @description Name and version of the runtime, whatever it is */
            php: string;
            /** @enum {string} */
            status: "ok" | "degraded";
            success: boolean;
            /** Format: date-time */
            timestamp: string;
        };
        IntegrityError: {
            error: string;
            /** @constant */
            type: "integrity_error";
        };
        IssuedApiKey: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string | null;
            id: string;
            /** @description The key itself, shown this once */
            key: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_used_at: string | null;
            last4: string;
            name: string;
            /** @constant */
            prefix: "rep_live_";
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
        };
        IssuedApiKeyReply: {
            data: components["schemas"]["IssuedApiKey"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Limit: {
            limit: number | null;
            remaining: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            reset_at: string;
            used: number;
        };
        ListedTable: {
            /** @description By name, without those that no page shows */
            columns: {
                [key: string]: {
                    nullable: boolean;
                    /** @enum {string} */
                    type: "text" | "integer" | "bigint" | "numeric" | "real" | "boolean" | "datetime" | "date" | "json";
                };
            };
            /** @description True when deletes travel */
            deletes: boolean;
            /** @description Null when they cannot be counted */
            rows: number | null;
            table: string;
            /** @description Null without one */
            timestamp_column: string | null;
            upsert_key: string[];
        };
        Liveness: {
            /** @constant */
            status: "ok";
        };
        Meta: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            /** @constant */
            version: "v1";
        };
        NoRecordsResult: {
            message: string;
            table: string;
            /** @constant */
            upserted: 0;
        };
        Overview: {
            health: {
                /** @enum {string} */
                db: "ok" | "unavailable";
                php: string;
                /** @enum {string} */
                status: "ok" | "degraded";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                timestamp: string;
            };
            history: {
                /** @description Of 31 days; hours without any are left out */
                hours: components["schemas"]["Traffic"][];
                /** @description Of a day; minutes without any are left out */
                minutes: components["schemas"]["Traffic"][];
            };
            remote: {
                /** @description Why it could not be reached */
                error: string | null;
                reachable: boolean;
                /** @description Without credentials; null when none is configured */
                url: string | null;
            };
            schedule: {
                /** @description SYNC_SCHEDULE */
                cron: string | null;
                /**
                 * Format: date-time
                 * @description Null when nothing is scheduled
                 */
                next_at: string | null;
            };
            sync_enabled: boolean;
            tables: components["schemas"]["OverviewTable"][];
        };
        OverviewTable: {
            /** @description Rows here more than there; as the last run left it where one is not known */
            drift: number | null;
            /** @description The last run over the table; null without one */
            last_run: {
                /** @enum {string} */
                direction: "push" | "pull" | "both";
                error?: string;
                /**
                 * Format: date-time
                 * @description Null while it runs
                 */
                finished_at: string | null;
                run_id: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                started_at: string;
                /** @enum {string} */
                status: "running" | "success" | "partial" | "failed";
                /** @enum {string} */
                trigger: "api" | "stream" | "cli" | "schedule";
            } | null;
            marker_lag_seconds: {
                /** @description Seconds from the marker to now */
                pull: number | null;
                /** @description Seconds from the marker to now */
                push: number | null;
            };
            /** @description Null when they cannot be counted */
            rows_here: number | null;
            /** @description By the remote's status; null when not known */
            rows_there: number | null;
            table: string;
        };
        OwnProfile: {
            bio: string;
            display_name: string;
            location: string;
            profession: string;
            public: boolean;
            username: string;
            verified: boolean;
        };
        OwnProfileReply: {
            data: components["schemas"]["OwnProfile"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        PasswordChange: {
            current_password: string;
            new_password: string;
        };
        PasswordChanged: {
            /** @constant */
            status: "changed";
        };
        PasswordChangedReply: {
            data: components["schemas"]["PasswordChanged"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        PasswordReset: {
            new_password: string;
        };
        PasswordResetDone: {
            /** @constant */
            status: "changed";
            username: string;
        };
        PasswordResetDoneReply: {
            data: components["schemas"]["PasswordResetDone"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Places: {
            /** @description The description of both interfaces as OpenAPI */
            api: string;
            /** @description The web console; absent where it is disabled */
            console?: string;
            /** @description The same as a page */
            docs: string;
            /** @description Whether the service is alive */
            health: string;
        };
        Plan: {
            calls_per_month: number | null;
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
            rate_limit_per_minute: number | null;
            username: string;
        };
        /**
         * @example {
         *       "plan": "business"
         *     }
         */
        PlanChange: {
            calls_per_month?: number | null;
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
            rate_limit_per_minute?: number | null;
        };
        PlanReply: {
            data: components["schemas"]["Plan"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Platform: {
            handle: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_synced_at: string;
            platform: string;
            verified: boolean;
        };
        PlatformList: components["schemas"]["Platform"][];
        PlatformListReply: {
            data: components["schemas"]["PlatformList"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        PlatformPoints: {
            platform: string;
            points: number;
        };
        Problem: {
            /** @enum {string} */
            code: "invalid_request" | "api_key_missing" | "api_key_invalid" | "api_key_revoked" | "api_key_expired" | "token_missing" | "token_invalid" | "token_expired" | "credentials_invalid" | "account_suspended" | "consent_required" | "forbidden" | "profile_not_found" | "not_found" | "method_not_allowed" | "username_taken" | "email_taken" | "conflict" | "body_too_large" | "rate_limited" | "quota_exceeded" | "internal_error" | "unavailable";
            detail: string;
            errors?: components["schemas"]["FieldProblem"][];
            meta: components["schemas"]["Meta"];
            request_id: string;
            status: number;
            /** @constant */
            success: false;
            title: string;
            /** @description urn:repsync:problem:<code> */
            type: string;
        };
        Profile: {
            bio: string;
            display_name: string;
            location: string;
            profession: string;
            username: string;
            verified: boolean;
        };
        /**
         * @example {
         *       "bio": "Woodworker"
         *     }
         */
        ProfileChange: {
            bio?: string | null;
            display_name?: string | null;
            location?: string | null;
            profession?: string | null;
            public?: boolean;
        };
        ProfileReply: {
            data: components["schemas"]["Profile"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        PullPage: {
            count: number;
            has_more: boolean;
            limit: number;
            next_offset: number | null;
            offset: number;
            records: {
                [key: string]: unknown;
            }[];
            since: string | null;
            table: string;
            total: number;
        };
        PushRequest: {
            /** @description Rows deleted at the sender, removed before the records are written; of a table with `deletes` only */
            deleted?: unknown[] | null;
            /** @description Rows to upsert; keys are column names */
            records?: unknown[] | null;
            /**
             * @description When the sync was initiated, ISO 8601; no effect on rows
             * @example 2026-01-02T03:04:05Z
             */
            sync_timestamp?: unknown;
        };
        PushResult: {
            /** @description Rows really written; only of a guarded push */
            changed?: number;
            /** @description Rows removed; only of a push that carried deletes */
            deleted?: number;
            /** @description Records left out, as the people whom they name were erased; only of a guarded push */
            erased?: number;
            error_count?: number;
            errors?: string[];
            /** @enum {string} */
            integrity: "verified" | "no_checksum";
            /** @description Rows that stay as they are here, being newer or their owner's; only of a guarded push */
            kept?: number;
            /** @description Records; 0 only beside deletes */
            received: number;
            table: string;
            upserted: number;
        };
        Readiness: {
            /** @enum {string} */
            status: "ok" | "stopping" | "unavailable";
        };
        RejectedRecord: {
            attempts: number;
            /** @enum {string} */
            direction: "push" | "pull";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_at: string;
            id: string;
            /** @description The key columns */
            key: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_at: string;
            message: string;
            table: string;
        };
        RejectedRecordDetail: {
            attempts: number;
            /** @enum {string} */
            direction: "push" | "pull";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_at: string;
            id: string;
            /** @description The key columns */
            key: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_at: string;
            message: string;
            /** @description As it was pulled, or the row that a push sends now; null when that is gone */
            record: {
                [key: string]: unknown;
            } | null;
            table: string;
        };
        RejectedRecordList: {
            items: components["schemas"]["RejectedRecord"][];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        Release: {
            /** @constant */
            status: "released";
            username: string;
        };
        ReleaseReply: {
            data: components["schemas"]["Release"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        Reputation: {
            score: number;
            star_level: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            username: string;
            verified_platforms: number;
        };
        ReputationReply: {
            data: components["schemas"]["Reputation"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        RetryResult: {
            item: components["schemas"]["RejectedRecord"];
            /** @enum {string} */
            status: "written" | "rejected";
        };
        Rotation: {
            /** @default 0 */
            overlap_seconds?: number;
        };
        RowList: {
            items: {
                [key: string]: unknown;
            }[];
            /** @description Null after the last part */
            next_cursor: string | null;
            table: string;
            /** @description Rows that match since and key */
            total: number;
        };
        RunBatchEvent: {
            batch: number;
            bytes_compressed: number;
            bytes_uncompressed: number;
            /** @enum {string} */
            direction: "push" | "pull";
            elapsed_ms: number;
            error_count: number;
            records_sent: number;
            rows_per_second: number;
            table: string;
            total_batches: number;
            total_records: number;
            total_sent: number;
            /** @constant */
            type: "batch";
            upserted: number;
        };
        RunDoneEvent: {
            bytes_compressed: number;
            bytes_uncompressed: number;
            /** @enum {string} */
            direction: "push" | "pull";
            duration_ms: number;
            /** @enum {string} */
            status: "success" | "partial";
            table: string;
            total_pulled?: number;
            total_pushed?: number;
            /** @constant */
            type: "done";
        };
        RunErrorEvent: {
            /** @enum {string} */
            direction: "push" | "pull";
            error: string;
            table: string;
            /** @constant */
            type: "error";
        };
        RunEvent: components["schemas"]["RunStartEvent"] | components["schemas"]["RunBatchEvent"] | components["schemas"]["RunDoneEvent"] | components["schemas"]["RunErrorEvent"] | components["schemas"]["RunFinishedEvent"];
        RunFinishedEvent: {
            /** @constant */
            type: "finished";
        };
        RunStartEvent: {
            /** @enum {string} */
            direction: "push" | "pull";
            table: string;
            total_records: number;
            /** @constant */
            type: "start";
        };
        Session: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            /** @enum {string} */
            role: "user" | "administrator";
            /** @description A JWT, good for an hour */
            token: string;
            /** @constant */
            token_type: "Bearer";
        };
        SessionReply: {
            data: components["schemas"]["Session"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        /**
         * @example {
         *       "username": "ana",
         *       "password": "a password of ana"
         *     }
         */
        SignIn: {
            password: string;
            username: string;
        };
        SignOut: {
            /** @constant */
            status: "ended";
        };
        SignOutEverywhere: {
            /** @constant */
            status: "ended";
        };
        SignOutEverywhereReply: {
            data: components["schemas"]["SignOutEverywhere"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        SignOutReply: {
            data: components["schemas"]["SignOut"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        /**
         * @example {
         *       "username": "ana",
         *       "password": "a password of ana",
         *       "email": "ana@example.com",
         *       "display_name": "Ana"
         *     }
         */
        SignUp: {
            display_name?: string | null;
            /** Format: email */
            email: string;
            password: string;
            username: string;
        };
        SignUpState: {
            administrator_exists: boolean;
            /** @description Whether people may sign up */
            enabled: boolean;
            /** @description Issuer of the identity provider whose tokens are accepted too */
            identity_provider: string | null;
        };
        SignUpStateReply: {
            data: components["schemas"]["SignUpState"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
        /**
         * @example {
         *       "direction": "push",
         *       "table": "profiles"
         *     }
         */
        StreamRequest: {
            /**
             * @default push
             * @enum {string}
             */
            direction?: "push" | "pull";
            /**
             * @description Count what would move; change nothing
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Overwrite newer rows; not with `both`
             * @default false
             */
            force?: boolean;
            /**
             * @description Clear the last-sync markers first
             * @default false
             */
            full?: boolean;
            /** @description Rows of a table that may be deleted at an end; null for the table's own limit */
            max_deletes?: number | null;
            /** @description Name of a table of the registry */
            table: string;
        };
        SyncError: {
            error: string;
        };
        SyncRun: {
            /** @description Rows really written, here and there */
            changed: number;
            /** @description Rows that a delete at the other end removed here */
            deleted_here: number;
            /** @description Rows that a delete here removed at the other end */
            deleted_there: number;
            /** @enum {string} */
            direction: "push" | "pull" | "both";
            /**
             * @description Only of a dry run
             * @constant
             */
            dry_run?: true;
            duration_ms: number;
            /** @description Rows that either end left out, as the people whom they name were erased there */
            erased: number;
            /** @description Why it failed; only when it did */
            error?: string;
            error_count: number;
            /**
             * Format: date-time
             * @description Null while it runs
             */
            finished_at: string | null;
            full_sync: boolean;
            /** @description Rows that stayed at either end, being newer than what came, or their owner's */
            kept: number;
            /** @constant */
            kind: "sync";
            run_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            /** @enum {string} */
            status: "running" | "success" | "partial" | "failed";
            tables: {
                [key: string]: components["schemas"]["TableResult"];
            };
            total_pulled: number;
            total_pushed: number;
            /** @enum {string} */
            trigger: "api" | "stream" | "cli" | "schedule";
        };
        SyncRunError: {
            error: string;
            /** @constant */
            type: "sync_error";
        };
        SyncStatus: {
            features: {
                /** @constant */
                gzip: true;
                /** @constant */
                incremental: true;
                /** @constant */
                sha256: true;
            };
            last_sync: {
                [key: string]: string;
            };
            /** Format: date-time */
            server_time: string;
            sync_enabled: boolean;
            table_counts: {
                [key: string]: number;
            };
            tables: string[];
        };
        TableList: {
            tables: components["schemas"]["ListedTable"][];
        };
        TableResult: {
            bytes_compressed: number;
            bytes_uncompressed: number;
            /** @description Rows really written, here and there */
            changed: number;
            /** @description Rows here at the end; null when not known */
            count_here: number | null;
            /** @description Rows there at the end; null when not known */
            count_there: number | null;
            /** @description Rows that a delete at the other end removed here */
            deleted_here: number;
            /** @description Rows that a delete here removed at the other end */
            deleted_there: number;
            duration_ms: number;
            /** @description Rows that either end left out, as the people whom they name were erased there */
            erased: number;
            error_count: number;
            /** @description Rows that stayed at either end, being newer than what came, or their owner's */
            kept: number;
            pulled: number;
            pushed: number;
            warnings: string[];
        };
        /**
         * @example {
         *       "table": "notes",
         *       "timestamp_column": "updated_at",
         *       "upsert_key": [
         *         "name"
         *       ],
         *       "update_columns": "__all__",
         *       "columns": {
         *         "name": {
         *           "type": "text",
         *           "nullable": false
         *         },
         *         "updated_at": {
         *           "type": "datetime",
         *           "nullable": true
         *         }
         *       },
         *       "deletes": false,
         *       "lag_seconds": 60,
         *       "late": {
         *         "mark": "12",
         *         "from": "2026-01-02T03:04:05Z"
         *       }
         *     }
         */
        TableSchema: {
            /** @description By name, without those that no page shows */
            columns: {
                [key: string]: components["schemas"]["TableSchemaColumn"];
            };
            /** @description True when deletes travel */
            deletes: boolean;
            /** @description Late-commit allowance */
            lag_seconds: number;
            late: {
                /** @description Earliest time that came late since late_after; null for nothing, empty for an unknown mark: read from the start */
                from: string | null;
                /** @description Where the next run goes on; opaque */
                mark: string;
            };
            table: string;
            timestamp_column: string | null;
            /** @description Columns that a push updates on a key conflict; __all__: all but the key and id */
            update_columns: "__all__" | string[];
            upsert_key: string[];
        };
        TableSchemaColumn: {
            nullable: boolean;
            /** @enum {string} */
            type: "text" | "integer" | "bigint" | "numeric" | "real" | "boolean" | "datetime" | "date" | "json";
        };
        Traffic: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @description Lookups that were decided */
            lookups: number;
            /** @description Rows written or removed by synchronization */
            rows: number;
        };
        /**
         * @example {
         *       "direction": "both"
         *     }
         */
        TriggerRequest: {
            /**
             * @default both
             * @enum {string}
             */
            direction?: "push" | "pull" | "both";
            /**
             * @description Count what would move; change nothing
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Overwrite newer rows; not with `both`
             * @default false
             */
            force?: boolean;
            /**
             * @description Clear the last-sync markers first
             * @default false
             */
            full?: boolean;
            /** @description Rows of a table that may be deleted at an end; null for the table's own limit */
            max_deletes?: number | null;
            /** @description One table; all when absent */
            table?: string | null;
            /**
             * @description Answer at the end; false: once it has begun
             * @default true
             */
            wait?: boolean;
        };
        TriggerResult: {
            /** @description Rows really written, here and there */
            changed: number;
            /** @description Rows that a delete at the other end removed here */
            deleted_here: number;
            /** @description Rows that a delete here removed at the other end */
            deleted_there: number;
            /** @enum {string} */
            direction: "push" | "pull" | "both";
            /**
             * @description Only of a dry run
             * @constant
             */
            dry_run?: true;
            duration_ms: number;
            /** @description Rows that either end left out, as the people whom they name were erased there */
            erased: number;
            error_count: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            finished_at: string;
            full_sync: boolean;
            /** @description Rows that stayed at either end, being newer than what came, or their owner's */
            kept: number;
            run_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            /** @enum {string} */
            status: "success" | "partial";
            tables: {
                [key: string]: components["schemas"]["TableResult"];
            };
            total_pulled: number;
            total_pushed: number;
        };
        undefinedList: {
            items: (components["schemas"]["SyncRun"] | components["schemas"]["CompareRun"])[];
            /** @description Null after the last part */
            next_cursor: string | null;
        };
        Usage: {
            /** @description The last 31 days in UTC, the oldest first */
            days: {
                /** @description Those that count against the limits */
                calls: number;
                /** Format: date */
                date: string;
                /** @description Those of them answered 403 or 404 */
                denied: number;
            }[];
            minute: components["schemas"]["Limit"];
            month: components["schemas"]["Limit"];
            /** @enum {string} */
            plan: "free" | "developer" | "business" | "enterprise";
        };
        UsageReply: {
            data: components["schemas"]["Usage"];
            meta: components["schemas"]["Meta"];
            /** @constant */
            success: true;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    findPlaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Places"];
                };
            };
        };
    };
    compareTable: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompareRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompareResult"];
                };
            };
        };
    };
    compareTableStream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompareRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listDeleted: {
        parameters: {
            query?: {
                /** @description `next_cursor` or `cursor` of an earlier reply */
                cursor?: string;
                /** @description Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is 1000. */
                limit?: number;
                /** @description ISO 8601; only deletes that this deployment learned of at or after this time. Ignored when it cannot be parsed. */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedPage"];
                };
            };
        };
    };
    readDigest: {
        parameters: {
            query?: {
                /** @description Only rows behind this key: a JSON array of the values of the key columns */
                after?: string;
                /** @description `true` for the rows themselves, as many as one reply may bring */
                records?: string;
                /** @description Rows of one segment */
                segment_rows?: number;
                /** @description Only rows up to this key: a JSON array of the values of the key columns */
                through?: string;
            };
            header?: never;
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DigestPage"];
                };
            };
        };
    };
    readOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    pullPage: {
        parameters: {
            query?: {
                /** @description Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is 1000. */
                limit?: number;
                /** @description Rows skipped; anything but an integer is 0, a negative one too. */
                offset?: number;
                /** @description ISO 8601; only rows at or after this time. Ignored when it cannot be parsed. */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullPage"];
                };
            };
        };
    };
    pushRecords: {
        parameters: {
            query?: never;
            header?: {
                /** @description A body is decompressed when this contains gzip, in any case. */
                "Content-Encoding"?: string;
                /** @description Hexadecimal SHA-256 of the uncompressed body; verified for gzip bodies. */
                "X-Content-SHA256"?: string;
                /** @description `newer`: rows that are newer here stay as they are; the result adds `kept` and `changed`. */
                "X-Sync-Conflict"?: "newer";
                /** @description `deletes`: nothing is written and records are ignored; `deleted` tells how many rows would be removed. */
                "X-Sync-Dry-Run"?: "deletes";
            };
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PushRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushResult"] | components["schemas"]["NoRecordsResult"];
                };
            };
        };
    };
    listRejectedRecords: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
                /** @description Only records of this table */
                table?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedRecordList"];
                };
            };
        };
    };
    readRejectedRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a rejected record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedRecordDetail"];
                };
            };
        };
    };
    dropRejectedRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a rejected record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DroppedRecord"];
                };
            };
        };
    };
    retryRejectedRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a rejected record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryResult"];
                };
            };
        };
    };
    listRows: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Only the row with this key: the text of a key of one column, or a JSON object with every part */
                key?: string;
                /** @description Items of the part */
                limit?: number;
                /** @description Only rows whose timestamp is at or after this time */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RowList"];
                };
            };
        };
    };
    listSyncRuns: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["undefinedList"];
                };
            };
        };
    };
    readSyncRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncRun"] | components["schemas"]["CompareRun"];
                };
            };
        };
    };
    cancelSyncRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncRun"] | components["schemas"]["CompareRun"];
                };
            };
        };
    };
    watchSyncRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a run, a dry run or a comparison */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    readTableSchema: {
        parameters: {
            query?: {
                /** @description `mark` of an earlier reply: `from` then tells the earliest time of what came late since. */
                late_after?: string;
            };
            header?: never;
            path: {
                /** @description Name of a table of the registry */
                table_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TableSchema"];
                };
            };
        };
    };
    readSyncStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncStatus"];
                };
            };
        };
    };
    listTables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TableList"];
                };
            };
        };
    };
    triggerSync: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TriggerRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerResult"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncRun"];
                };
            };
        };
    };
    triggerSyncStream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    readMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; version=0.0.4; charset=utf-8": string;
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
                /** @description Text that the name or the e-mail address contains, whatever the case of A to Z; never a pattern */
                query?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountItemListReply"];
                };
            };
        };
    };
    readAccountUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountUsageReply"];
                };
            };
        };
    };
    eraseSomebody: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountErasureReply"];
                };
            };
        };
    };
    setPassword: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordResetDoneReply"];
                };
            };
        };
    };
    changePlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanReply"];
                };
            };
        };
    };
    releaseName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseReply"];
                };
            };
        };
    };
    restoreAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountItemReply"];
                };
            };
        };
    };
    suspendAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountItemReply"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Username: records where it called, was looked up, or was acted on */
                account?: string;
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description ISO 8601: records of this time or later */
                from?: string;
                /** @description Items of the part */
                limit?: number;
                /** @description ISO 8601: records before this time */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditItemListReply"];
                };
            };
        };
    };
    readAuditHeads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditHeadsReply"];
                };
            };
        };
    };
    verifyAuditLog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    checkHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    checkLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
        };
    };
    checkReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    readAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
        };
    };
    eraseAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureReply"];
                };
            };
        };
    };
    listAccesses: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessListReply"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyListReply"];
                };
            };
        };
    };
    issueApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedApiKeyReply"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyReply"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Rotation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedApiKeyReply"];
                };
            };
        };
    };
    listConsents: {
        parameters: {
            query?: {
                /** @description next_cursor of the part before */
                cursor?: string;
                /** @description Items of the part */
                limit?: number;
                /** @description Only consents of this purpose */
                purpose?: "reputation_lookup" | "profile_lookup" | "platforms_lookup";
                /** @description Only consents of this status */
                status?: "active" | "revoked" | "expired" | "superseded";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentListReply"];
                };
            };
        };
    };
    grantConsent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentGrant"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentReply"];
                };
            };
        };
    };
    revokeConsent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the list shows it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentReply"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordChangedReply"];
                };
            };
        };
    };
    readProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnProfileReply"];
                };
            };
        };
    };
    changeProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProfileChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnProfileReply"];
                };
            };
        };
    };
    explainReputation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplanationReply"];
                };
            };
        };
    };
    readUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReply"];
                };
            };
        };
    };
    lookUpProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileReply"];
                };
            };
        };
    };
    listPlatforms: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlatformListReply"];
                };
            };
        };
    };
    lookUpReputation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of a profile */
                username: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReputationReply"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionReply"];
                };
            };
        };
    };
    signOutEverywhere: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOutEverywhereReply"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOutReply"];
                };
            };
        };
    };
    readSignUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignUpStateReply"];
                };
            };
        };
    };
    signUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUp"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountReply"];
                };
            };
        };
    };
}
