/** The page of budgets: what the account, its members and its keys may spend, what they have, and when it begins anew. */
import { Table, Text, VisuallyHidden } from '@mantine/core'
import { useMay } from '@/dashboard/account'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { useLiveEvents } from '@/dashboard/live'
import { BudgetWindows } from './budget-windows'
import { type BudgetBody, budgetsChanged, useBudgets } from './budgets-data'
import { EditBudget } from './edit-budget'
import { GrantBudget } from './grant-budget'

const MIN_WIDTH = 300

const SECTIONS: readonly { scope: BudgetBody['scope']; title: string; description: string }[] = [
  { scope: 'account', title: 'This account', description: 'For all members and keys together.' },
  { scope: 'member', title: 'Members', description: 'For all keys of a member together.' },
  { scope: 'key', title: 'API keys', description: 'A monthly budget of a key is among its limits, on its own page.' },
  {
    scope: 'new_member',
    title: 'New members',
    description: 'What whoever joins is given. Members who are there keep what they have.',
  },
]

/** The page at `/budgets`. */
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
            return (
              own.length > 0 && (
                <Section key={scope} title={title} description={description}>
                  <BudgetTable items={own} title={title} />
                </Section>
              )
            )
          })
        }
      </Loaded>
    </Page>
  )
}

function BudgetTable({ items, title }: { items: readonly BudgetBody[]; title: string }) {
  const mayChange = useMay()('budgets.change')
  return (
    <Table.ScrollContainer minWidth={MIN_WIDTH} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing="sm" horizontalSpacing="sm" aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Whose</Table.Th>
            <Table.Th scope="col">Budget</Table.Th>
            {mayChange && (
              <Table.Th scope="col">
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={item.scopeId}>
              <Table.Td miw={90} maw={240}>
                <Text size="sm" fw={600} className="wrap-anywhere">
                  {item.name ?? title}
                </Text>
              </Table.Td>
              <Table.Td>
                <BudgetWindows item={item} />
              </Table.Td>
              {mayChange && (
                <Table.Td ta="right">
                  <EditBudget item={item} name={item.name ?? title} />
                  <GrantBudget item={item} name={item.name ?? title} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
