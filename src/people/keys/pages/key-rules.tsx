import { Text } from '@mantine/core'
import { useViewer } from '@/dashboard/session'
import { MEMBER_POLICY_ROWS, type RuleName } from '@/people/keys/fields'
import { type MemberKeyPolicy, useKeyPolicy, useMemberKeyPolicy } from './policies-data'

/** Shows how the rules of account and member restrict a new key; empty without rules. `isService`: a key without a member. */
export function KeyRules({ isService }: { isService: boolean }) {
  const ofAccount = useKeyPolicy()
  const ofMember = useMemberKeyPolicy(useViewer().data?.userId ?? '')
  return (
    <>
      {ofAccount.data && <RulesText whose="all keys of this account" {...ofAccount.data.value} />}
      {!isService && ofMember.data && <RulesText whose="your keys" {...ofMember.data.value} />}
      {(ofAccount.isError || ofMember.isError) && (
        <Text size="sm" c="dimmed">
          The rules for keys could not be loaded. They hold all the same.
        </Text>
      )}
    </>
  )
}

function RulesText({ whose, ...rules }: MemberKeyPolicy & { whose: string }) {
  const said = MEMBER_POLICY_ROWS.flatMap(({ wire, label }) => {
    const rule = rules[wire as RuleName]
    if (Array.isArray(rule)) return `${label}: ${rule.join(', ')}`
    return rule ? label : []
  })
  if (said.length === 0) return null
  return (
    <Text size="sm" c="dimmed" className="wrap-anywhere">
      Rules for {whose}: {said.join('; ')}.
    </Text>
  )
}
