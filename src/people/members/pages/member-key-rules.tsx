/** The dialog for the rules of all API keys of one member. */
import { Button, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Versioned } from '@/dashboard/client'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { FieldInput } from '@/people/form'
import { changesIn, formOf, labelsOf } from '@/people/form-values'
import { MEMBER_POLICY_ROWS } from '@/people/keys/fields'
import { KeyDialog } from '@/people/keys/pages/key-dialog'
import { type MemberKeyPolicy, setMemberKeyPolicy, useMemberKeyPolicy } from '@/people/keys/pages/policies-data'
import { useSharedForm } from '@/people/newer'
import type { MemberItem } from './members-data'

type MemberProps = { member: Pick<MemberItem, 'userId' | 'name'> }

export function MemberKeyRules({ member }: MemberProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Key rules<VisuallyHidden> for {member.name}</VisuallyHidden>
      </Button>
      <KeyDialog title={`Rules for API keys: ${member.name}`} isOpen={isOpen} close={close}>
        <KnownRules member={member} close={close} />
      </KeyDialog>
    </>
  )
}

function KnownRules({ member, close }: MemberProps & { close(): void }) {
  const policy = useMemberKeyPolicy(member.userId)
  return <Loaded query={policy}>{(given) => <RulesForm member={member} given={given} close={close} />}</Loaded>
}

type RulesFormProps = MemberProps & { given: Versioned<MemberKeyPolicy>; close(): void }

function RulesForm({ member: { userId, name }, given, close }: RulesFormProps) {
  const { form, submission, newer } = useSharedForm({
    given,
    formOf: (policy: MemberKeyPolicy) => formOf(MEMBER_POLICY_ROWS, policy),
    labels: labelsOf(MEMBER_POLICY_ROWS),
    async save(values, before, etag) {
      const changes = changesIn(MEMBER_POLICY_ROWS, before, values)
      if (Object.keys(changes).length > 0) {
        await setMemberKeyPolicy(userId, changes, etag)
        notifyDone(`This applies from the next request of ${name}.`)
      }
      close()
      return undefined
    },
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      <Text size="sm">
        They hold for every key of {name}, beside the rules for all keys of this account. A key may be narrower, never
        wider.
      </Text>
      {MEMBER_POLICY_ROWS.map((field) => (
        <FieldInput
          key={field.wire}
          field={field}
          input={form.getInputProps(field.wire, { type: field.kind === 'flag' ? 'checkbox' : 'input' })}
        />
      ))}
      {newer}
    </DialogForm>
  )
}
