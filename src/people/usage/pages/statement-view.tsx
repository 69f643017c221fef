import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconDownload, IconFileInvoice } from '@tabler/icons-react'
import { useSearchParams } from 'wouter'
import { withParam } from '@/dashboard/components/address'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Former } from '@/dashboard/components/states/former'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { formatDay } from '@/dashboard/format'
import { MovementsTable } from './movements-table'
import { daysOf, PERIODS } from './periods'
import { filePath, type Period, type Statement, useStatement } from './statement-data'

/** An account statement: period, totals, movements with balances. `accountId` is undefined for the viewer's own account. */
export function StatementView({ accountId }: { accountId?: string }) {
  const [params, setParams] = useSearchParams()
  const name = PERIODS.find(({ value }) => value === params.get('period'))?.value ?? 'month'
  const chosen = { from: params.get('from') ?? '', to: params.get('to') ?? '' }
  const period = daysOf(name, chosen)
  const change = (field: string, value: string) =>
    setParams((before) => withParam(before, field, value), { replace: true })
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
  if (!statement.data) return <ErrorState error={statement.error} retry={statement.refetch} />
  const { pages } = statement.data
  const first = pages[0]
  if (!first) return null
  const items = pages.flatMap((page) => page.items)
  return (
    <Former isFormer={statement.isPlaceholderData}>
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
    </Former>
  )
}

function Sums({ statement: { opening, credited, takenBack, spent, closing } }: { statement: Statement }) {
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="md">
      <Stat label="Opening balance" value={<Money usd={opening} />} />
      <Stat label="Credited" value={<Money usd={credited} />} />
      <Stat label="Taken back" value={<Money usd={takenBack} />} hint="Refunds, corrections, credit moved away" />
      <Stat label="Spent" value={<Money usd={spent} />} hint="On requests" />
      <Stat label="Closing balance" value={<Money usd={closing} />} />
    </SimpleGrid>
  )
}

function describe({ from, to }: Statement): string {
  return to === null ? `From ${formatDay(from)} up to now` : `${formatDay(from)} to ${formatDay(to)}`
}
