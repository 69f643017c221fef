/** The books page: prepaid liability with its equation, cash, revenue and margin, by day or month. */
import { Button, Group, SegmentedControl, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconDownload, IconNotebook } from '@tabler/icons-react'
import { useSearchParams } from 'wouter'
import { withParam } from '@/dashboard/components/address'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Former } from '@/dashboard/components/states/former'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatCount, formatDay } from '@/dashboard/format'
import { formatDrawnMoney } from '@/people/usage/pages/chart-steps'
import { daysOf, PERIODS } from '@/people/usage/pages/periods'
import { type BookStep, type Books, booksFilePath, TERMS, useBooks } from './books-data'
import { CashTable, EquationTable, PeriodTable } from './books-tables'
import { Known, MarginTable } from './margin-table'

const STEPS = [
  { value: 'day', label: 'By day' },
  { value: 'month', label: 'By month' },
] as const

export function AdminBooksPage() {
  const [params, setParams] = useSearchParams()
  const by: BookStep = params.get('by') === 'month' ? 'month' : 'day'
  const name = PERIODS.find(({ value }) => value === params.get('period'))?.value ?? 'month'
  const chosen = { from: params.get('from') ?? '', to: params.get('to') ?? '' }
  const asked = { by, ...daysOf(name, chosen) }
  const books = useBooks(asked)
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
    <Page
      title="Books"
      description="Cash, prepaid liability, revenue and margin. Days and months are in UTC; usage appears within seconds."
    >
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
        <SegmentedControl
          data={[...STEPS]}
          value={by}
          onChange={(value) => change('by', value)}
          aria-label="What a row is"
        />
        <Button
          component="a"
          variant="default"
          href={booksFilePath(asked)}
          download
          leftSection={<IconDownload size={16} />}
        >
          Download CSV
        </Button>
      </Group>
      <Loaded query={books}>
        {(data) => (
          <Former isFormer={books.isPlaceholderData}>
            <Report books={data} />
          </Former>
        )}
      </Loaded>
    </Page>
  )
}

function Report({ books }: { books: Books }) {
  const { total, periods, models } = books
  const isEmpty = total.cash.length === 0 && total.requests === 0 && TERMS.every(({ name }) => total[name] === '0')
  return (
    <>
      <Figures books={books} />
      <Section
        title="How the prepaid liability moved"
        description={`${formatDay(books.from)} to ${formatDay(books.to)}. The opening balance plus all lines is the closing balance, to the last digit.`}
        isFlush
      >
        <EquationTable sums={total} />
      </Section>
      {isEmpty ? (
        <Section>
          <EmptyState icon={IconNotebook} title="Nothing was booked in this time">
            Choose a longer period to see earlier bookings.
          </EmptyState>
        </Section>
      ) : (
        <>
          <Section
            title="Cash"
            description="What came in and went out, by the day it was recorded here. Payments that wait for a decision are included."
            isFlush
          >
            <CashTable cash={total.cash} />
          </Section>
          <Section title={books.by === 'day' ? 'By day' : 'By month'} description="The newest first, in USD">
            <StackedBars
              label={`Prepaid liability at the end of each ${books.by}`}
              buckets={periods.map(({ period, closing }) => ({
                key: period,
                label: period.slice('yyyy-'.length),
                longLabel: period,
                values: { 'Prepaid liability': Math.max(Number(closing), 0) },
              }))}
              formatValue={formatDrawnMoney}
            />
            <PeriodTable periods={periods.toReversed()} />
          </Section>
          {models.length > 0 && (
            <Section title="Margin by model" description="Revenue less what providers ask, where that is known">
              <MarginTable
                rows={models.map((row) => ({
                  ...row,
                  ...{ key: row.model, name: row.model, thrownAwayCalls: 0, thrownAway: '0' },
                }))}
              />
            </Section>
          )}
        </>
      )}
    </>
  )
}

function Figures({ books: { total, now } }: { books: Books }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
      <Stat
        label="Prepaid liability"
        value={<Money usd={total.closing} />}
        hint={
          now.belowZero === '0' ? (
            'At the end of the period'
          ) : (
            <>
              Now <Money usd={now.liability} />, with <Money usd={now.belowZero} /> that customers owe
            </>
          )
        }
      />
      <Stat label="Credit bought" value={<Money usd={total.purchases} />} hint="Without tax, grants and test credit" />
      <Stat
        label="Charged to customers"
        value={<Money usd={total.charged} />}
        hint={`${formatCount(total.requests)} requests, whatever credit paid for them`}
      />
      <Stat
        label="Margin"
        value={<Known usd={total.margin} />}
        hint={
          total.uncosted === '0' ? (
            'Every cost is known'
          ) : (
            <>
              Without <Money usd={total.uncosted} /> at unknown cost
            </>
          )
        }
      />
    </SimpleGrid>
  )
}
