/** The settings that hold for all members, on the members page. */
import { Stack, Switch } from '@mantine/core'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { SETTING_ROWS } from '@/people/settings/fields'
import { changeSettings, useSettings } from './members-data'

export function SettingsSection() {
  return (
    <Section title="What developers see">
      <Loaded query={useSettings()}>
        {(settings) => (
          <Stack>
            {SETTING_ROWS.map(({ name, label, help, on, off }) => (
              <Switch
                key={name}
                label={label}
                description={help}
                checked={settings[name]}
                onChange={({ currentTarget: { checked } }) => {
                  changeSettings({ [name]: checked })
                    .then(() => notifyDone(checked ? on : off))
                    .catch(notifyError)
                }}
              />
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}
