/** The members page: members and their roles, and turning an account into an organisation. */
import { List, Text } from '@mantine/core'
import { useMay } from '@/dashboard/account'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import type { Company } from './company-fields'
import { InvitationsSection } from './invitations-section'
import { useMembers } from './members-data'
import { MembersTable } from './members-table'
import { OrganisationForm } from './organisation-form'
import { SettingsSection } from './settings-section'
import { countryName, ROLE_WORDS, ROLES } from './words'

export function MembersPage() {
  const members = useMembers()
  const may = useMay()
  return (
    <Page title="Members" description="Who sees this account, and what each may do in it.">
      <Section isFlush>
        <Loaded query={members}>{({ items, kind }) => <MembersTable items={items} kind={kind} />}</Loaded>
      </Section>
      {members.data?.kind === 'personal' && may('account.change') && <OrganisationForm />}
      {members.data?.kind === 'organisation' && may('members.change') && <InvitationsSection />}
      {members.data?.kind === 'organisation' && may('members.change') && <SettingsSection />}
      {members.data?.company && <CompanyFacts company={members.data.company} />}
      {members.data?.kind === 'organisation' && <RolesExplained />}
    </Page>
  )
}

function CompanyFacts({ company: { name, country, vatId } }: { company: Company }) {
  return (
    <Section title="Organisation">
      <Text size="sm" className="wrap-anywhere">
        {name}, {countryName(country)}
        {vatId !== null && `, VAT id ${vatId}`}
      </Text>
    </Section>
  )
}

function RolesExplained() {
  return (
    <Section title="Roles">
      <List size="sm" spacing={6}>
        {ROLES.map((role) => (
          <List.Item key={role}>
            <b>{ROLE_WORDS[role].label}</b>: {ROLE_WORDS[role].text}
          </List.Item>
        ))}
      </List>
    </Section>
  )
}
