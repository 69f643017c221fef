/** The identity of one request: in its answer's headers, in the log, in the ledger and in its usage record. */

/**
 * `req_` and 32 hexadecimal characters: a UUID of version 7 (the moment, and at least 62 random bits). Also the id of the request's hold and
 * of its record in the history, whose index is cheapest to add to where later ids sort behind earlier ones.
 */
export function newRequestId(): string {
  return `req_${Bun.randomUUIDv7('buffer').toString('hex')}`
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

/** Has `request` go by the identity of another, on whose behalf it is made. */
export function sameIdentity(request: Request, as: Request): void {
  ids.set(request, requestIdOf(as))
}
