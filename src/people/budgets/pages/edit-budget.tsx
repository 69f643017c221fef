/** The dialog to set a budget's limits, with the amount spent in each window. */
import { Button, Checkbox, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Versioned } from '@/dashboard/client'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatMoney } from '@/dashboard/format'
import { BUDGET_FIELDS } from '@/people/budgets/fields'
import { MAX_USD_CHARS } from '@/people/keys/fields'
import { KeyDialog } from '@/people/keys/pages/key-dialog'
import { useSharedForm } from '@/people/newer'
import { type BudgetBody, type LimitFields, setBudget, useBudget } from './budgets-data'

type EditBudgetProps = { item: BudgetBody; name: string }

export function EditBudget({ item, name }: EditBudgetProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Edit<VisuallyHidden> the budget of {name}</VisuallyHidden>
      </Button>
      <KeyDialog title={`Budget: ${name}`} isOpen={isOpen} close={close}>
        <WholeBudget item={item} close={close} />
      </KeyDialog>
    </>
  )
}

function WholeBudget({ item, close }: { item: BudgetBody; close(): void }) {
  return <Loaded query={useBudget(item)}>{(whole) => <BudgetForm given={whole} close={close} />}</Loaded>
}

type BudgetFields = LimitFields & { givenToMembers: boolean }

const LABELS = Object.fromEntries(Object.values(BUDGET_FIELDS).map(({ wire, label }) => [wire, label]))

/** The windows whose limits the form has. A key's monthly limit is a setting of the key. */
function windowsOf({ scope, windows }: BudgetBody) {
  return windows.filter(({ window }) => scope !== 'key' || window !== 'month')
}

function formOf(item: BudgetBody): BudgetFields {
  const limits = windowsOf(item).map(({ window, limitUsd }) => [BUDGET_FIELDS[window].wire, limitUsd ?? ''])
  return { ...(Object.fromEntries(limits) as LimitFields), givenToMembers: false }
}

function BudgetForm({ given, close }: { given: Versioned<BudgetBody>; close(): void }) {
  const item = given.value
  const { form, submission, newer } = useSharedForm({
    ...{ given, formOf, labels: LABELS },
    async save({ givenToMembers, ...fields }, before, etag) {
      const changed = Object.entries(fields).filter(([field, text]) => text !== before[field as keyof LimitFields])
      if (changed.length > 0 || givenToMembers) {
        await setBudget(item, Object.fromEntries(changed), givenToMembers, etag)
        notifyDone('The budget applies from the next request on.')
      }
      close()
      return undefined
    },
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      <Text size="sm">In USD. Empty is no limit, and 0 blocks. What was spent in a window counts.</Text>
      {windowsOf(item).map(({ window, spentUsd }) => (
        <TextInput
          key={window}
          label={BUDGET_FIELDS[window].label}
          description={item.scope === 'new_member' ? undefined : `Spent so far: ${formatMoney(spentUsd)}`}
          inputMode="decimal"
          maxLength={MAX_USD_CHARS}
          {...form.getInputProps(BUDGET_FIELDS[window].wire)}
        />
      ))}
      {item.scope === 'new_member' && (
        <Checkbox
          label="Give it to members who have no budget of their own as well"
          {...form.getInputProps('givenToMembers', { type: 'checkbox' })}
        />
      )}
      {newer}
    </DialogForm>
  )
}
