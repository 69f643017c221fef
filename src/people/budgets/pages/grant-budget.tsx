import { Button, Select, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { BUDGET_FIELDS } from '@/people/budgets/fields'
import { MAX_USD_CHARS } from '@/people/keys/fields'
import { KeyDialog } from '@/people/keys/pages/key-dialog'
import { type BudgetBody, type BudgetWindow, grant } from './budgets-data'

type GrantBudgetProps = { item: BudgetBody; name: string }

/** The dialog that raises a budget until its current window ends. Hidden if there is no limit to raise. */
export function GrantBudget({ item, name }: GrantBudgetProps) {
  const [isOpen, { open, close }] = useDisclosure()
  if (item.windows.length === 0 || item.scope === 'new_member') return null
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Grant more<VisuallyHidden> to {name}</VisuallyHidden>
      </Button>
      <KeyDialog title={`Grant more: ${name}`} isOpen={isOpen} close={close}>
        <GrantForm item={item} close={close} />
      </KeyDialog>
    </>
  )
}

function GrantForm({ item, close }: { item: BudgetBody; close(): void }) {
  const [first] = item.windows
  const form = useForm<{ window: BudgetWindow; usd: string }>({
    initialValues: { window: first?.window ?? 'day', usd: '' },
  })
  const submission = useSubmission(form, async ({ window, usd }) => {
    await grant(item, window, usd)
    notifyDone('The grant applies until the window ends.')
    close()
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Grant">
      <Text size="sm">Is added to the limit until the window ends, once more each time. The audit log keeps it.</Text>
      <Select
        label="Window"
        allowDeselect={false}
        data={item.windows.map(({ window }) => ({ value: window, label: BUDGET_FIELDS[window].label }))}
        {...form.getInputProps('window')}
      />
      <TextInput
        label="Amount in USD"
        inputMode="decimal"
        maxLength={MAX_USD_CHARS}
        data-autofocus
        {...form.getInputProps('usd')}
      />
    </DialogForm>
  )
}
