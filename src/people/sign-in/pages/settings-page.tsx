/** A person's own settings: name, address, password, second step and sessions. */

import { Page } from '@/dashboard/components/page'
import { Loaded } from '@/dashboard/components/states/loaded'
import { useViewer } from '@/dashboard/session'
import { EmailSection } from './email-section'
import { PasswordSection } from './password-section'
import { ProfileSection } from './profile-section'
import { SessionsSection } from './sessions-section'
import { TotpSection } from './totp-section'

export function SettingsPage() {
  const me = useViewer()
  return (
    <Page title="Settings" description="Your name, how you sign in, and where you are signed in.">
      <Loaded query={me}>
        {(viewer) =>
          viewer && (
            <>
              <ProfileSection viewer={viewer} />
              <EmailSection viewer={viewer} />
              <PasswordSection email={viewer.email} />
              <TotpSection isEnabled={viewer.isTotpEnabled} isAdministrator={viewer.role === 'admin'} />
              <SessionsSection />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
