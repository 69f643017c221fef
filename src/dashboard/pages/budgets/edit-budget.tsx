/** The dialog to set a budget's limits, with the amount spent in each window. */
import { Button, Checkbox, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatMoney } from '@/dashboard/format'
import { KeyDialog } from '@/dashboard/pages/keys/key-dialog'
import { type BudgetBody, fieldOf, type LimitFields, setBudget, useBudget, WINDOW_WORDS } from './budgets-data'

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
  return <Loaded query={useBudget(item)}>{(whole) => <BudgetForm item={whole} close={close} />}</Loaded>
}

function BudgetForm({ item, close }: { item: BudgetBody; close(): void }) {
  const windows = item.windows.filter(({ window }) => item.scope !== 'key' || window !== 'month')
  const before = Object.fromEntries(
    windows.map(({ window, limitUsd }) => [fieldOf(window), limitUsd ?? '']),
  ) as LimitFields
  const form = useForm({ initialValues: { ...before, givenToMembers: false } })
  const submission = useSubmission(form, async ({ givenToMembers, ...fields }) => {
    const changed = Object.entries(fields).filter(([field, text]) => text !== before[field as keyof LimitFields])
    if (changed.length > 0 || givenToMembers) {
      await setBudget(item, Object.fromEntries(changed), givenToMembers)
      notifyDone('The budget applies from the next request on.')
    }
    close()
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      <Text size="sm">In USD. Empty is no limit, and 0 blocks. What was spent in a window counts.</Text>
      {windows.map(({ window, spentUsd }) => (
        <TextInput
          key={window}
          label={WINDOW_WORDS[window]}
          description={item.scope === 'new_member' ? undefined : `Spent so far: ${formatMoney(spentUsd)}`}
          inputMode="decimal"
          maxLength={20}
          {...form.getInputProps(fieldOf(window))}
        />
      ))}
      {item.scope === 'new_member' && (
        <Checkbox
          label="Give it to members who have no budget of their own as well"
          {...form.getInputProps('givenToMembers', { type: 'checkbox' })}
        />
      )}
    </DialogForm>
  )
}
