/** The windows of a budget: amount spent and limit, as text and bar, and the reset time. */
import { Box, Progress, SimpleGrid, Text } from '@mantine/core'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { formatMoney } from '@/dashboard/format'
import { BUDGET_FIELDS } from '@/people/budgets/fields'
import type { BudgetBody } from './budgets-data'

const NEARLY_SPENT = 80
const ALL = 100

/** Texts for budgets without limits. A key's monthly limit is a setting of the key, and not shown here. */
const WITHOUT: Record<BudgetBody['scope'], string> = {
  account: 'No limit',
  member: 'Not set',
  key: 'No limit for the day, the week or in total',
  new_member: 'No limit',
}

/** One bar for each window with a limit. */
export function BudgetWindows({ item }: { item: BudgetBody }) {
  if (item.windows.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {WITHOUT[item.scope]}
      </Text>
    )
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="lg" verticalSpacing="xs" mt="xs">
      {item.windows.map((window) => (
        <BudgetWindow key={window.window} window={window} isSpent={item.scope !== 'new_member'} />
      ))}
    </SimpleGrid>
  )
}

type BudgetWindowProps = { window: BudgetBody['windows'][number]; isSpent: boolean }

function BudgetWindow({ window: { window, limitUsd, grantedUsd, spentUsd, endsAt }, isSpent }: BudgetWindowProps) {
  const label = BUDGET_FIELDS[window].label
  if (!isSpent) {
    return (
      <Text size="sm">
        {label}: <Money usd={limitUsd ?? '0'} />
      </Text>
    )
  }
  const note = Number(grantedUsd) > 0 ? ` and ${formatMoney(grantedUsd)} granted` : ''
  return <BudgetBar {...{ label, spentUsd, grantedUsd, note, endsAt }} limitUsd={limitUsd ?? '0'} />
}

type BudgetBarProps = {
  label: string
  spentUsd: string
  limitUsd: string
  /** The amount granted in addition to the limit. */
  grantedUsd?: string
  /** The text after the limit. */
  note: string
  endsAt: string | null
}

/** Aligns the bars of a row, even if the texts above them have different heights. */
const IN_LINE = { display: 'grid', gridTemplateRows: 'subgrid', gridRow: 'span 2', rowGap: 0 }

/** The spent part of a limit as a bar, as an element of a grid. */
export function BudgetBar({ label, spentUsd, limitUsd, grantedUsd = '0', note, endsAt }: BudgetBarProps) {
  const limit = Number(limitUsd) + Number(grantedUsd)
  const percent = limit === 0 ? ALL : Math.min(ALL, Math.max(0, Math.round((Number(spentUsd) / limit) * ALL)))
  return (
    <Box style={IN_LINE}>
      <Text size="sm" style={{ alignSelf: 'end' }}>
        {label}: <Money usd={spentUsd} /> of {formatMoney(limitUsd)}
        {note}
      </Text>
      <Box>
        <Progress
          value={percent}
          size="sm"
          mt={4}
          color={percent >= ALL ? 'red' : percent >= NEARLY_SPENT ? 'yellow' : undefined}
          aria-label={`${label}: ${percent}% is spent`}
        />
        {endsAt !== null && (
          <Text size="xs" c="dimmed">
            Begins anew <Moment at={endsAt} />
          </Text>
        )}
      </Box>
    </Box>
  )
}
