/** By what a responses request is known: its path, and its `input`, which no other format has. */
import type { Recognition } from '@/formats/format'

export const recognition: Recognition = {
  headers: [],
  keyHeaders: [],
  isOwnPath: (path) => /^\/(v1\/)*responses(\/|$)/.test(path),
  isOwnBody: (body) => 'input' in body || 'previous_response_id' in body,
}
