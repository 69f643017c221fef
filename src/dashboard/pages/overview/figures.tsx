/** The account's figures on the overview: money as it changes, then how requests went over the last week. */
import { SimpleGrid } from '@mantine/core'
import { Money } from '@/dashboard/components/money'
import { Stat } from '@/dashboard/components/stat'
import { formatCount, formatDuration, formatMoney } from '@/dashboard/format'
import { useLiveBalance } from '@/dashboard/live'
import type { Overview } from './overview-data'

const LAST_WEEK = 'Mean of the last 7 days'

/** What is left, what was spent, and how many requests that was. */
export function MoneyFigures({ overview }: { overview: Overview | undefined }) {
  const live = useLiveBalance()
  const money = live ?? overview
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Stat
        label="Balance"
        value={money && <Money usd={money.balance} />}
        hint={
          money &&
          (money.held === '0' ? 'Nothing held by open requests' : `${formatMoney(money.held)} held by open requests`)
        }
      />
      <Stat label="Spent today" value={overview && <Money usd={overview.spentToday} />} hint="Since midnight UTC" />
      <Stat label="Spent this month" value={money && <Money usd={money.spentThisMonth} />} hint="Calendar month, UTC" />
      <Stat
        label="Requests"
        value={overview && formatCount(overview.requests)}
        hint={overview && `${errorsText(overview)}, last 7 days`}
      />
    </SimpleGrid>
  )
}

/** How fast the answers were, and how many keys can ask for more. */
export function SpeedFigures({ overview }: { overview: Overview | undefined }) {
  const speed = overview?.speed
  const time = (milliseconds: number | null) => (milliseconds === null ? '–' : formatDuration(milliseconds))
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Stat label="First token" value={speed && time(speed.firstTokenMs)} hint={LAST_WEEK} />
      <Stat label="Whole answer" value={speed && time(speed.durationMs)} hint={LAST_WEEK} />
      <Stat
        label="Tokens per second"
        value={speed && (speed.tokensPerSecond === null ? '–' : formatCount(Math.round(speed.tokensPerSecond)))}
        hint={LAST_WEEK}
      />
      <Stat label="Active keys" value={overview && formatCount(overview.activeKeys)} hint="Keys that can be used now" />
    </SimpleGrid>
  )
}

function errorsText({ errors }: Overview): string {
  return errors === 1 ? '1 with an error' : `${formatCount(errors)} with an error`
}
