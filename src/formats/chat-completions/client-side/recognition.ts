/** By what a chat-completions request is known: its path alone. What could be several formats' is taken for this one anyway. */
import type { Recognition } from '@/formats/format'

export const recognition: Recognition = {
  headers: [],
  keyHeaders: [],
  isOwnPath: (path) => /^\/(v1\/)*(chat\/|embeddings\b)/.test(path),
  isOwnBody: () => false,
}
