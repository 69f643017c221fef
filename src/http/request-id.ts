/** The identity of one request: in its answer's headers, in the log, in the ledger and in its usage record. */

/** `req_` and 32 hexadecimal characters (122 random bits). Also the id of the request's hold. */
export function newRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll('-', '')}`
}

const ids = new WeakMap<Request, string>()

/** The identity of a request that several places speak of: its answer, an error's, and the audit log. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request)
  if (known !== undefined) return known
  const id = newRequestId()
  ids.set(request, id)
  return id
}
