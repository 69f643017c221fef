/** The dialog for the rules of all API keys of one member. */
import { Button, Text, VisuallyHidden } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import {
  type Allowed,
  AllowedFields,
  type AllowedLists,
  allowedFrom,
  listsFrom,
} from '@/dashboard/components/fields/allowed-fields'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Loaded } from '@/dashboard/components/states/loaded'
import { KeyDialog } from '@/dashboard/pages/keys/key-dialog'
import { setMemberKeyPolicy, useMemberKeyPolicy } from '@/dashboard/pages/keys/policies-data'
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
  return <Loaded query={policy}>{(known) => <RulesForm member={member} policy={known} close={close} />}</Loaded>
}

function RulesForm({ member: { userId, name }, policy, close }: MemberProps & { policy: Allowed; close(): void }) {
  const form = useForm<AllowedLists>({ initialValues: listsFrom(policy) })
  const submission = useSubmission(form, async (lists) => {
    await setMemberKeyPolicy(userId, allowedFrom(lists))
    notifyDone(`This applies from the next request of ${name}.`)
    close()
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Save">
      <Text size="sm">
        They hold for every key of {name}, beside the rules for all keys of this account. A key may be narrower, never
        wider.
      </Text>
      <AllowedFields form={form} />
    </DialogForm>
  )
}
