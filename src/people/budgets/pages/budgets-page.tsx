/** The budgets page: limits of the account, its members and keys, amounts spent, and reset times. */
import { Box, Group, Text } from '@mantine/core'
import { useMay } from '@/dashboard/account'
import { Row, Rows } from '@/dashboard/components/lists/rows'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { useLiveEvents } from '@/dashboard/live'
import { BudgetWindows } from './budget-windows'
import { type BudgetBody, budgetsChanged, useBudgets } from './budgets-data'
import { EditBudget } from './edit-budget'
import { GrantBudget } from './grant-budget'

const SECTIONS: readonly { scope: BudgetBody['scope']; title: string; description: string }[] = [
  { scope: 'account', title: 'This account', description: 'For all members and keys together.' },
  { scope: 'member', title: 'Members', description: 'For all keys of a member together.' },
  { scope: 'key', title: 'API keys', description: 'A monthly budget of a key is among its limits, on its own page.' },
  {
    scope: 'new_member',
    title: 'New members',
    description: 'The budget of new members. Present members keep theirs; those without one can be given it too.',
  },
]

export function BudgetsPage() {
  const budgets = useBudgets()
  useLiveEvents(budgetsChanged)
  return (
    <Page
      title="Budgets"
      description="A request has to fit into every budget that applies to it. Days, weeks (from Monday) and months are in UTC."
    >
      <Loaded query={budgets}>
        {({ items }) =>
          SECTIONS.map(({ scope, title, description }) => {
            const own = items.filter((item) => item.scope === scope)
            const [only] = own
            return (
              only && (
                <Section
                  key={scope}
                  {...{ title, description }}
                  actions={only.name === null && <BudgetButtons item={only} name={title} />}
                  isFlush
                >
                  <Rows>
                    {own.map((item) => (
                      <BudgetRow key={item.scopeId} item={item} />
                    ))}
                  </Rows>
                </Section>
              )
            )
          })
        }
      </Loaded>
    </Page>
  )
}

/** One budget in a section. A budget without a name is alone in its section, whose heading has its title and buttons. */
function BudgetRow({ item }: { item: BudgetBody }) {
  const { name, windows } = item
  const isEmpty = windows.length === 0
  return (
    <Row>
      {name !== null && (
        <Group justify="space-between" align="flex-start" gap="sm">
          <Box style={{ flex: '1 1 140px' }}>
            <Text size="sm" fw={600} className="wrap-anywhere">
              {name}
            </Text>
            {isEmpty && <BudgetWindows item={item} />}
          </Box>
          <BudgetButtons item={item} name={name} />
        </Group>
      )}
      {!(isEmpty && name !== null) && <BudgetWindows item={item} />}
    </Row>
  )
}

function BudgetButtons({ item, name }: { item: BudgetBody; name: string }) {
  if (!useMay()('budgets.change')) return null
  return (
    <Group gap="xs">
      <EditBudget item={item} name={name} />
      <GrantBudget item={item} name={name} />
    </Group>
  )
}
