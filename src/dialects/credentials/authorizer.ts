/** What authorizes calls that no key of the catalogue authorizes. */

/** All that a call is about to say. */
export type OutgoingCall = { url: string; headers: Readonly<Record<string, string>>; body: string }

export interface Authorizer {
  /**
   * The headers of the call, with those that authorize it: asked last, for each attempt, because they may depend on all else. Rejects
   * with a {@link CredentialError} where there is nothing to authorize it with, and once `signal` is aborted.
   */
  authorize(call: OutgoingCall, signal: AbortSignal): Promise<Record<string, string>>
  /** Told that the provider refused a call with these headers by status 401 or 403. Says whether the next one is authorized otherwise. */
  refused(headers: Readonly<Record<string, string>>, refusal: Refusal): boolean
  /** Prepares what calls need, so that the first one does not wait. Failures are reported to the calls. */
  warm(): void
  status(): CredentialStatus
}

/** A refusal: its status, the provider's word, and the server's time if known. */
type Refusal = { status: number; kind: string; serverTimeMs?: number }

/** How it stands with a credential: until when the present one is valid (undefined without one), and how often one was asked for. */
export type CredentialStatus = { expiresAtMs: number | undefined; obtained: number; failed: number }

/** There is no valid credential. The message is for the log: it contains no secret and no words of the token endpoint. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'

  /** `atMs`: when it was refused, by the provider's clock; undefined without an answer. */
  constructor(
    message: string,
    readonly atMs?: number,
  ) {
    super(message)
  }
}
