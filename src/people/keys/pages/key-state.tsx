/** Badges of an API key in lists: its state, and the spent part of its budget. */
import { Box, Group, Progress, Text } from '@mantine/core'
import { Money } from '@/dashboard/components/money'
import { Status, type Tone } from '@/dashboard/components/status'
import { formatMoney } from '@/dashboard/format'
import type { KeyBody } from './keys-data'

const STATES: Record<KeyBody['status'], { label: string; tone: Tone }> = {
  active: { label: 'Active', tone: 'good' },
  deactivated: { label: 'Deactivated', tone: 'neutral' },
  expired: { label: 'Expired', tone: 'waiting' },
}

/** The key's state as a badge. */
export function KeyStatus({ status }: { status: KeyBody['status'] }) {
  const { label, tone } = STATES[status]
  return <Status tone={tone}>{label}</Status>
}

/** A badge for keys that belong to no member; empty for a member's key. */
export function KeyKind({ item: { builtIn, createdBy } }: { item: KeyBody }) {
  if (builtIn) return <Status tone="info">Built in</Status>
  return createdBy === null && <Status tone="neutral">Service key</Status>
}

const NEARLY_SPENT = 0.8

/** This month's spending. If the key has a budget, a bar shows the spent part. */
export function KeySpend({ item }: { item: KeyBody }) {
  const { monthlyBudgetUsd } = item.limits
  if (monthlyBudgetUsd === null || item.budgetUsed === null) return <Money usd={item.spentThisMonthUsd} />
  const percent = Math.min(100, Math.round(item.budgetUsed * 100))
  return (
    <Box miw={100}>
      <Group gap={4} justify="flex-end">
        <Money usd={item.spentThisMonthUsd} />
        <Text span size="xs" c="dimmed" className="figures">
          of {formatMoney(monthlyBudgetUsd)}
        </Text>
      </Group>
      <Progress
        value={percent}
        size="sm"
        mt={4}
        color={percent >= 100 ? 'red' : item.budgetUsed >= NEARLY_SPENT ? 'yellow' : undefined}
        aria-label={`${percent}% of the monthly budget is spent`}
      />
    </Box>
  )
}
