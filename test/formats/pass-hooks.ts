/** What an answer that passes through is told in tests, and what it tells. */
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import type { PassHooks } from '@/formats/format'

/** Hooks that say that the provider has stated its usage (or not) and that `charged` is charged, and keep what was put right, each once and in order of the alphabet. */
export function passHooks(
  charged: Partial<Usage> = {},
  isUsageStated = true,
): PassHooks & { readonly repairs: string[] } {
  const told = new Set<string>()
  return {
    charged: () => ({ ...ZERO_USAGE, ...charged }),
    isUsageStated: () => isUsageStated,
    repaired: (repair) => void told.add(repair),
    get repairs() {
      return [...told].sort()
    },
  }
}
