/** What every proxy in front of gateways can say of itself, whichever it is. */
export interface InFront {
  readonly url: string
  /** Waits until it sends requests to the gateway at `url` again, which has just said that it serves. */
  takesBack(url: string): Promise<void>
  /** What it had to say of gateways that it could not reach or that broke a connection, but for those that refused one. */
  errors(): Promise<string[]>
  stop(): Promise<void>
}

/** Puts the suite's own address or time in the place of one that operators have. What is not found would be left as it is, unnoticed. */
export function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the settings in deploy/ have no ${from}`)
  return text.replace(from, to)
}
