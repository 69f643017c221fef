/** Authorizes calls that don't use a key of the catalogue. */

export type OutgoingCall = { url: string; headers: Readonly<Record<string, string>>; body: string }

export interface Authorizer {
  /**
   * Returns the call's headers with its authorization. Called last for each attempt, since a signature covers all other parts. Rejects with
   * a {@link CredentialError} if there are no credentials, and when `signal` is aborted.
   */
  authorize(call: OutgoingCall, signal: AbortSignal): Promise<Record<string, string>>
  /** Called if the provider refused these headers with status 401 or 403. Returns whether the next call will be authorized differently. */
  refused(headers: Readonly<Record<string, string>>, refusal: Refusal): boolean
  /** Fetches credentials in advance. A failure is not reported here, but to the next calls. */
  warm(): void
  status(): CredentialStatus
}

/** A refusal: its status, the provider's error code, and the server's time if known. */
type Refusal = { status: number; kind: string; serverTimeMs?: number }

/** A credential's state: its expiry (undefined without one), and how many were obtained or failed. */
export type CredentialStatus = { expiresAtMs: number | undefined; obtained: number; failed: number }

/** The error if there is no valid credential. Its message is for the log: no secret, and no text from the token endpoint. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'

  /** `atMs`: time of the refusal by the provider's clock; undefined without a response. */
  constructor(
    message: string,
    readonly atMs?: number,
  ) {
    super(message)
  }
}
