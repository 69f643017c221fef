/** The dialog that makes an API key, and shows the whole key once. */

import { Button, Checkbox, Collapse, Group, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { useMay } from '@/dashboard/account'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { perform } from '@/people/client'
import { KEY_NAME } from '@/people/keys/fields'
import { CreatedKey } from './created-key'
import { KeyMaker } from './key-dialog'
import { changesFrom, checksOfKey, formOfKey, type KeyForm } from './key-form'
import { KeyRules } from './key-rules'
import { keysChanged } from './keys-data'
import { LimitFields } from './limit-fields'

export function CreateKey({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <KeyMaker
      title="Create API key"
      madeTitle="Your new API key"
      isOpen={isOpen}
      close={close}
      form={(onMade) => <CreateForm onCreated={onMade} cancel={close} />}
      made={(key, finish) => <CreatedKey value={key} finish={finish} />}
    />
  )
}

function CreateForm({ onCreated, cancel }: { onCreated(key: string): void; cancel(): void }) {
  const [hasLimits, { toggle }] = useDisclosure()
  const [isService, setService] = useState(false)
  const [isUnlimited, setUnlimited] = useState(false)
  const mayMakeService = useMay()('limits.raise')
  const before = formOfKey()
  const form = useForm<KeyForm>({ initialValues: before, validate: checksOfKey(before) })
  const submission = useSubmission(form, async (fields) => {
    const service = isService ? { isService, ...(isUnlimited && { monthlyBudgetUsd: null }) } : {}
    const { name = '', ...limits } = changesFrom(before, fields)
    const { key } = await perform('POST /keys', { name, ...limits, ...service })
    onCreated(key)
    await keysChanged()
  })
  return (
    <DialogForm submission={submission} cancel={cancel} action="Create key">
      <TextInput
        label={KEY_NAME.label}
        description={KEY_NAME.help}
        placeholder={KEY_NAME.example}
        maxLength={KEY_NAME.most}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <KeyRules isService={isService} />
      {mayMakeService && (
        <Checkbox
          label="Service key: the account’s own, of no member"
          description="It stays when people leave, and no member’s budget binds it."
          checked={isService}
          onChange={(event) => setService(event.currentTarget.checked)}
        />
      )}
      {isService && (
        <Checkbox
          label="It may spend without a monthly budget"
          checked={isUnlimited}
          onChange={(event) => setUnlimited(event.currentTarget.checked)}
        />
      )}
      {!isService && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={toggle}
            aria-expanded={hasLimits}
            aria-controls="key-limits"
            rightSection={<IconChevronDown size={14} style={{ transform: hasLimits ? 'rotate(180deg)' : undefined }} />}
          >
            Limits
          </Button>
        </Group>
      )}
      <Collapse expanded={hasLimits || isService} id="key-limits">
        <LimitFields form={form} />
      </Collapse>
    </DialogForm>
  )
}
