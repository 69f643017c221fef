/** The table of members, where people with the permission change roles and remove members. */
import { Button, Group, Select, Table, Text, VisuallyHidden } from '@mantine/core'
import { useMay } from '@/dashboard/account'
import { Heads, SCROLLED } from '@/dashboard/components/lists/data-table'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { askAboutMember } from './ask-about-member'
import { MemberKeyRules } from './member-key-rules'
import {
  type AccountRole,
  credentialsOf,
  type Fate,
  giveRole,
  type MemberItem,
  membersChanged,
  removeMember,
} from './members-data'
import { ROLE_WORDS, ROLES } from './words'

const MIN_WIDTH = 320
const COLUMNS = [
  { title: 'Member' },
  { title: 'Role' },
  { title: 'Since', visibleFrom: 'lg' },
  { title: 'Active keys', visibleFrom: 'md', ta: 'right' },
  { title: 'Actions', isHidden: true, visibleFrom: 'sm' },
] as const
const ROLE_WIDTH = 140

type MembersTableProps = { items: readonly MemberItem[]; kind: 'personal' | 'organisation' }

export function MembersTable({ items, kind }: MembersTableProps) {
  const owners = items.filter(({ role }) => role === 'owner').length
  return (
    <Table.ScrollContainer minWidth={MIN_WIDTH} scrollAreaProps={SCROLLED}>
      <Table verticalSpacing="sm" horizontalSpacing="sm">
        <Heads columns={COLUMNS} />
        <Table.Tbody>
          {items.map((member) => (
            <MemberRow
              key={member.userId}
              member={member}
              isOrganisation={kind === 'organisation'}
              isLastOwner={member.role === 'owner' && owners === 1}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

type MemberRowProps = { member: MemberItem; isOrganisation: boolean; isLastOwner: boolean }

function MemberRow({ member, isOrganisation, isLastOwner }: MemberRowProps) {
  const may = useMay()
  const mayChange = may('members.change') && (member.role !== 'owner' || may('account.change'))
  const isOpen = isOrganisation && !isLastOwner
  const actions = (
    <>
      {isOrganisation && may('limits.raise') && <MemberKeyRules member={member} />}
      {isOpen && (member.isSelf || mayChange) && (
        <Button size="xs" variant="default" onClick={() => void askToRemove(member).catch(notifyError)}>
          {member.isSelf ? 'Leave' : 'Remove'}
          <VisuallyHidden> {member.isSelf ? 'this account' : member.name}</VisuallyHidden>
        </Button>
      )}
    </>
  )
  return (
    <Table.Tr>
      <Table.Td miw={110} maw={260}>
        <Text size="sm" fw={600} className="wrap-anywhere">
          {member.name}
          {member.isSelf && ' (you)'}
        </Text>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {member.email}
        </Text>
      </Table.Td>
      <Table.Td>
        {isOpen && mayChange ? <RoleChoice member={member} /> : <Text size="sm">{ROLE_WORDS[member.role].label}</Text>}
        <Group hiddenFrom="sm" mt="xs" gap="xs">
          {actions}
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          <Moment at={member.createdAt} />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {member.activeKeys}
      </Table.Td>
      <Table.Td visibleFrom="sm" ta="right">
        <Group gap="xs" justify="flex-end">
          {actions}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

function RoleChoice({ member }: { member: MemberItem }) {
  const choices = choicesFor(member, useMay()('account.change'))
  return (
    <Select
      aria-label={`Role of ${member.name}`}
      size="xs"
      w={ROLE_WIDTH}
      allowDeselect={false}
      value={member.role}
      data={choices.map((role) => ({ value: role, label: ROLE_WORDS[role].label }))}
      onChange={(role) => role && void askForRole(member, role as AccountRole).catch(notifyError)}
    />
  )
}

/** The roles that can be chosen. People can only lower their own role, and only owners can make owners. */
function choicesFor({ isSelf, role }: MemberItem, isOwner: boolean): readonly AccountRole[] {
  if (isSelf) return ROLES.slice(ROLES.indexOf(role))
  return isOwner ? ROLES : ROLES.filter((one) => one !== 'owner')
}

async function askForRole(member: MemberItem, role: AccountRole): Promise<void> {
  if (role === member.role) return
  const { isSelf, name } = member
  const { label } = ROLE_WORDS[role]
  const give = async (fate: Fate) => {
    await giveRole(member, role, fate)
    notifyDone(`${isSelf ? 'Your role' : `The role of ${name}`} is ${label} now.`)
  }
  const lost = (await credentialsOf(member)).filter(
    ({ kind, roles }) => kind !== 'service_key' && !roles.includes(role),
  )
  if (!isSelf && role !== 'owner' && lost.length === 0) return await give('revoke')
  const question = { lost, known: [], run: give }
  if (role === 'owner') {
    const body = 'Owners may do everything, and take the role of owner from others.'
    askAboutMember({ ...question, title: `Make ${name} an owner?`, body, action: 'Make owner' })
  } else if (isSelf) {
    const body = 'You cannot undo this yourself: someone else has to give you the role again.'
    askAboutMember({ ...question, title: 'Lower your own role?', body, action: 'Lower my role' })
  } else {
    const body = `${name} may hold less with the role ${label}.`
    askAboutMember({ ...question, title: `Make ${name} ${label}?`, body, action: 'Change role' })
  }
}

async function askToRemove(member: MemberItem): Promise<void> {
  const { isSelf, name } = member
  const made = await credentialsOf(member)
  askAboutMember({
    title: isSelf ? 'Leave this account?' : `Remove ${name}?`,
    body: `${isSelf ? 'You see' : `${name} sees`} nothing of this account any more, at once. Past usage stays, and deactivated keys stay under API keys.`,
    action: isSelf ? 'Leave' : 'Remove member',
    lost: made.filter(({ kind }) => kind !== 'service_key'),
    known: made.filter(({ kind }) => kind === 'service_key'),
    isLeaving: true,
    async run(fate) {
      await removeMember(member, fate)
      if (isSelf) window.location.assign('/dashboard')
      else {
        await membersChanged()
        notifyDone(`${name} is removed.`)
      }
    },
  })
}
