/** An amount in USD: shortened on the page, exact in its tooltip. */
import { formatMoney } from '@/dashboard/format'

type MoneyProps = {
  /** Decimal text from the server. */
  usd: string
  isExact?: boolean
  /** Number of decimals, equal in the whole column. */
  decimals?: number | undefined
}

export function Money({ usd, isExact = false, decimals }: MoneyProps) {
  return (
    <span className="figures" title={formatMoney(usd, { isExact: true })}>
      {formatMoney(usd, { isExact, decimals })}
    </span>
  )
}
