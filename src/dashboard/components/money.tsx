/** An amount of USD on a page, short to read, exact in its title. */
import { formatMoney } from '@/dashboard/format'

/** `usd` is a decimal text as the server sends it. */
export function Money({ usd, isExact = false }: { usd: string; isExact?: boolean }) {
  return (
    <span className="figures" title={formatMoney(usd, { isExact: true })}>
      {formatMoney(usd, { isExact })}
    </span>
  )
}
