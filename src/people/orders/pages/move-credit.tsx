/** The dialog with which an owner of several accounts moves credit from the shown account to another. */
import { Button, List, Modal, Select, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconArrowsLeftRight } from '@tabler/icons-react'
import { useState } from 'react'
import { newRequestKey } from '@/dashboard/client'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatMoment, formatMoney } from '@/dashboard/format'
import { moveCredit, type TransferOptions, useTransferOptions } from './order-data'

export function MoveCredit() {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<IconArrowsLeftRight size={16} />} onClick={open}>
        Move credit
      </Button>
      <Modal opened={isOpen} onClose={close} title="Move credit" centered closeButtonProps={{ 'aria-label': 'Close' }}>
        <Options close={close} />
      </Modal>
    </>
  )
}

function Options({ close }: { close(): void }) {
  return (
    <Loaded query={useTransferOptions()}>
      {(options) =>
        options.accounts.length === 0 ? (
          <Text size="sm">Credit is moved between accounts that you own, and you own no other.</Text>
        ) : (
          <TransferForm options={options} close={close} />
        )
      }
    </Loaded>
  )
}

function TransferForm({ options, close }: { options: TransferOptions; close(): void }) {
  const { accounts, movableUsd, later, minimumUsd, maximumUsd } = options
  // One key per opened dialog: if the form is sent again after a lost response, credit moves only once.
  const [key] = useState(newRequestKey)
  const form = useForm({
    initialValues: { toAccountId: '', amountUsd: '' },
    validate: {
      toAccountId: (accountId) => (accountId === '' ? 'Choose an account.' : null),
      amountUsd: (text) => (/^\d+(\.\d+)?$/.test(text.trim()) ? null : 'Enter an amount such as 25 or 12.50.'),
    },
  })
  const submission = useSubmission(form, async ({ toAccountId, amountUsd }) => {
    await moveCredit({ toAccountId, amountUsd: amountUsd.trim(), key })
    close()
    const to = accounts.find(({ accountId }) => accountId === toAccountId)?.name ?? ''
    notifyDone(`${formatMoney(amountUsd.trim())} was moved to ${to}.`)
  })
  return (
    <DialogForm
      submission={submission}
      cancel={close}
      action="Move credit"
      lead={
        <>
          <Text size="sm">It is there at once, and in the statements of both accounts. Move it back the same way.</Text>
          <Text size="sm">
            You can move <b>{formatMoney(movableUsd)}</b> now.
            {later.length > 0 && ' The rest can still be charged back, and can be moved later:'}
          </Text>
          {later.length > 0 && (
            <List size="sm">
              {later.map(({ amountUsd, from }) => (
                <List.Item key={from}>
                  {formatMoney(amountUsd)} from {formatMoment(from)}
                </List.Item>
              ))}
            </List>
          )}
        </>
      }
    >
      <Select
        label="To"
        placeholder="Choose an account"
        searchable
        data={labelled(accounts)}
        {...form.getInputProps('toAccountId')}
      />
      <TextInput
        label="Amount in US dollars"
        description={`From ${formatMoney(minimumUsd)} to ${formatMoney(maximumUsd)}`}
        inputMode="decimal"
        autoComplete="off"
        maxLength={30}
        leftSection="$"
        {...form.getInputProps('amountUsd')}
      />
    </DialogForm>
  )
}

/** Adds the id to accounts with equal names. */
function labelled(accounts: TransferOptions['accounts']): { value: string; label: string }[] {
  return accounts.map(({ accountId, name }) => {
    const isAlone = accounts.filter((other) => other.name === name).length === 1
    return { value: accountId, label: isAlone ? name : `${name} (${accountId})` }
  })
}
