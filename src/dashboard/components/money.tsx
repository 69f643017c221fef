/** An amount of USD on a page, short to read, exact in its title. */
import { formatMoney } from '@/dashboard/format'

type MoneyProps = {
  /** A decimal text as the server sends it. */
  usd: string
  isExact?: boolean
  /** How many there are to be: those of its column. */
  decimals?: number | undefined
}

export function Money({ usd, isExact = false, decimals }: MoneyProps) {
  return (
    <span className="figures" title={formatMoney(usd, { isExact: true })}>
      {formatMoney(usd, { isExact, decimals })}
    </span>
  )
}
