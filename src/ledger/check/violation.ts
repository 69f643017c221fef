/** A broken invariant of the ledger. */

/** `kind` is a stable snake_case name; `detail` is for people. Amounts are nano-USD. */
export type Violation = { kind: string; accountId?: string; holdId?: string; detail: string }
