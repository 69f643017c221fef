/** The id of a request: in response headers, log, ledger and usage record. */

/** `req_` and a UUID version 7 in 32 hexadecimal characters; ascending ids are cheap in Postgres. Hold and record have the same id. */
export function newRequestId(): string {
  return `req_${Bun.randomUUIDv7('buffer').toString('hex')}`
}

const ids = new WeakMap<Request, string>()

/** The id of a request, the same for its response, errors and audit entries. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request)
  if (known !== undefined) return known
  const id = newRequestId()
  ids.set(request, id)
  return id
}

/** Gives `request` the id of another request, on whose behalf it is made. */
export function sameIdentity(request: Request, as: Request): void {
  ids.set(request, requestIdOf(as))
}
