/** An account's settings: company, rules for keys, and stored answers. */
import { useMay } from '@/dashboard/account'
import { Page } from '@/dashboard/components/page'
import { AddressesSection } from '@/people/keys/pages/addresses-section'
import { KeyPolicySection } from '@/people/keys/pages/key-policy-section'
import { CompanySection } from '@/people/members/pages/company-section'
import { StoredResponsesSection } from './stored-responses-section'

export function AccountSettingsPage() {
  const may = useMay()
  return (
    <Page title="Account settings" description="Settings of the whole account, for all of its members and keys.">
      {may('account.change') && <CompanySection />}
      <KeyPolicySection />
      <AddressesSection />
      {may('account.change') && <StoredResponsesSection />}
    </Page>
  )
}
