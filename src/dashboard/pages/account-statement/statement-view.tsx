/** An account statement: the period, its sums, and every movement with the balance after it; for an account and for administrators. */

import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconDownload, IconFileInvoice } from '@tabler/icons-react'
import { useSearchParams } from 'wouter'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { formatDay } from '@/dashboard/format'
import { ShowMore } from '@/dashboard/pages/administration/show-more'
import { MovementsTable } from './movements-table'
import { filePath, type Period, type Statement, useStatement } from './statement-data'

const PERIODS = [
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: 'quarter', label: 'Last 3 months' },
  { value: 'year', label: 'This year' },
  { value: 'days', label: 'Choose days' },
] as const
type PeriodName = (typeof PERIODS)[number]['value']

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** `accountId` is undefined for the viewer's own. */
export function StatementView({ accountId }: { accountId?: string }) {
  const [params, setParams] = useSearchParams()
  const name = PERIODS.find(({ value }) => value === params.get('period'))?.value ?? 'month'
  const chosen = { from: params.get('from') ?? '', to: params.get('to') ?? '' }
  const period = daysOf(name, chosen)
  const change = (field: string, value: string) =>
    setParams(
      (before) => {
        const changed = new URLSearchParams(before)
        changed.set(field, value)
        return changed
      },
      { replace: true },
    )
  const day = (field: 'from' | 'to', label: string) => (
    <TextInput
      label={label}
      type="date"
      value={chosen[field]}
      onChange={(event) => change(field, event.currentTarget.value)}
    />
  )
  return (
    <>
      <Group align="flex-end" gap="sm" className="no-print">
        <Select
          label="Period"
          data={[...PERIODS]}
          value={name}
          allowDeselect={false}
          onChange={(value) => change('period', value ?? 'month')}
        />
        {name === 'days' && day('from', 'From (UTC)')}
        {name === 'days' && day('to', 'To (UTC)')}
        <Button
          component="a"
          variant="default"
          href={filePath(period, accountId)}
          download
          leftSection={<IconDownload size={16} />}
        >
          Download CSV
        </Button>
      </Group>
      <Movements period={period} accountId={accountId} />
    </>
  )
}

function Movements({ period, accountId }: { period: Period; accountId: string | undefined }) {
  const statement = useStatement(period, accountId)
  if (statement.isPending) return <LoadingRows />
  if (statement.isError) return <ErrorState error={statement.error} retry={statement.refetch} />
  const { pages } = statement.data
  const first = pages[0]
  if (!first) return null
  const items = pages.flatMap((page) => page.items)
  return (
    <>
      <Sums statement={first} />
      <Section
        title="Movements"
        description={`${describe(first)}. Days are in UTC; usage is summed up by the day.`}
        isFlush
      >
        {items.length === 0 ? (
          <EmptyState icon={IconFileInvoice} title="No money moved in this time">
            Choose a longer period to see earlier movements.
          </EmptyState>
        ) : (
          <MovementsTable
            items={items}
            opening={first.opening}
            closing={statement.hasNextPage ? undefined : first.closing}
            isOwn={accountId === undefined}
          />
        )}
        <ShowMore {...statement} />
      </Section>
    </>
  )
}

function Sums({ statement: { opening, credited, takenBack, spent, closing } }: { statement: Statement }) {
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="md">
      <Stat label="Opening balance" value={<Money usd={opening} />} />
      <Stat label="Credited" value={<Money usd={credited} />} />
      <Stat label="Taken back" value={<Money usd={takenBack} />} hint="Refunds and corrections" />
      <Stat label="Spent" value={<Money usd={spent} />} hint="On requests" />
      <Stat label="Closing balance" value={<Money usd={closing} />} />
    </SimpleGrid>
  )
}

function describe({ from, to }: Statement): string {
  return to === null ? `From ${formatDay(from)} up to now` : `${formatDay(from)} to ${formatDay(to)}`
}

/** The days of a period at `nowMs`; `from` and `to` count only for chosen days, and only where they make a period. */
export function daysOf(name: PeriodName, chosen: { from: string; to: string }, nowMs = Date.now()): Period {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  switch (name) {
    case 'month':
      return { from: dayOf(year, month, 1) }
    case 'last-month':
      return { from: dayOf(year, month - 1, 1), to: dayOf(year, month, 0) }
    case 'quarter':
      return { from: dayOf(year, month - 2, 1) }
    case 'year':
      return { from: dayOf(year, 0, 1) }
    case 'days': {
      const from = DAY.test(chosen.from) ? chosen.from : dayOf(year, month, 1)
      return DAY.test(chosen.to) && chosen.to >= from ? { from, to: chosen.to } : { from }
    }
  }
}

/** Months and days beyond their ends are those of the months before and after. */
function dayOf(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 'yyyy-mm-dd'.length)
}
