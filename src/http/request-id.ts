/** The identity of one request: in its answer's headers, in the log, in the ledger and in its usage record. */

/** `req_` and 32 hexadecimal characters (122 random bits). Also the id of the request's hold. */
export function newRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll('-', '')}`
}
