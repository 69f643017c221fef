/** The rules for all members, on the members page. */
import { Switch } from '@mantine/core'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { setMemberPolicy, useMemberPolicy } from './members-data'

export function MemberPolicySection() {
  return (
    <Section title="What developers see">
      <Loaded query={useMemberPolicy()}>
        {({ developersSeeAllUsage }) => (
          <Switch
            label="Developers see all usage"
            description="The usage and failed requests of every key in the account. Its balance and orders, and the keys of others, stay hidden from them."
            checked={developersSeeAllUsage}
            onChange={(event) => void change(event.currentTarget.checked).catch(notifyError)}
          />
        )}
      </Loaded>
    </Section>
  )
}

async function change(developersSeeAllUsage: boolean): Promise<void> {
  await setMemberPolicy({ developersSeeAllUsage })
  notifyDone(developersSeeAllUsage ? 'Developers see all usage now.' : 'Developers see their own usage.')
}
