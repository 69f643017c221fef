import { SimpleGrid, Text } from '@mantine/core'
import { formatMoney } from '@/dashboard/format'
import { BUDGET_FIELDS } from '@/people/budgets/fields'
import { BudgetBar } from '@/people/budgets/pages/budget-windows'
import type { useKey } from './keys-data'

type Budgets = NonNullable<ReturnType<typeof useKey>['data']>['value']['budgets']

const SCOPE_WORDS = { account: 'The account', member: 'Its member', key: 'This key' } as const

/** The budgets that limit a key: the remaining amount of each, as text and bar, the smallest first. */
export function KeyBudgets({ items }: { items: Budgets }) {
  if (items.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No budget binds this key: it may spend what the account has.
      </Text>
    )
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
      {items.map(({ scope, window, limitUsd, spentUsd, leftUsd, resetsAt }) => {
        const label = `${SCOPE_WORDS[scope]}, ${BUDGET_FIELDS[window].label.toLowerCase()}`
        if (limitUsd === null || spentUsd === null) {
          return (
            <Text key={label} size="sm" style={{ gridRow: 'span 2' }}>
              {label}: your role does not see its figures
            </Text>
          )
        }
        const note = `, ${formatMoney(leftUsd ?? '0')} left`
        return <BudgetBar key={label} {...{ label, limitUsd, spentUsd, note }} endsAt={resetsAt} />
      })}
    </SimpleGrid>
  )
}
