/** The page of settings: what people change about themselves, be it name, password, second step or sessions. */

import { useMay } from '@/dashboard/account'
import { Page } from '@/dashboard/components/page'
import { Loaded } from '@/dashboard/components/states/loaded'
import { useViewer } from '@/dashboard/session'
import { AddressesSection } from './addresses-section'
import { EmailSection } from './email-section'
import { KeyPolicySection } from './key-policy-section'
import { PasswordSection } from './password-section'
import { ProfileSection } from './profile-section'
import { SessionsSection } from './sessions-section'
import { StoredResponsesSection } from './stored-responses-section'
import { TotpSection } from './totp-section'

export function SettingsPage() {
  const me = useViewer()
  const may = useMay()
  return (
    <Page title="Settings" description="Your name, how you sign in, where you are signed in, and what is stored.">
      <Loaded query={me}>
        {(viewer) =>
          viewer && (
            <>
              <ProfileSection viewer={viewer} />
              <EmailSection viewer={viewer} />
              <PasswordSection email={viewer.email} />
              <TotpSection isEnabled={viewer.isTotpEnabled} isAdministrator={viewer.role === 'admin'} />
              <SessionsSection />
              {may('limits.raise') && <AddressesSection />}
              {may('limits.raise') && <KeyPolicySection />}
              {may('account.change') && <StoredResponsesSection />}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
