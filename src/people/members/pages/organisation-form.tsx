/** The form that turns a personal account into an organisation, permanently. */
import { Button, Group, Stack } from '@mantine/core'
import { confirm } from '@/dashboard/components/confirm'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { CompanyFields, companyFrom, useCompanyForm } from './company-fields'
import { makeOrganisation } from './members-data'

export function OrganisationForm() {
  const form = useCompanyForm()
  const submit = form.onSubmit(
    (fields) => ask(companyFrom(fields)),
    (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
  )
  return (
    <Section
      title="Share this account"
      description="An organisation has members in roles. Balance, keys and history stay as they are; an organisation does not become a personal account again."
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <CompanyFields form={form} />
          <Group>
            <Button type="submit" variant="default">
              Make it an organisation
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function ask(company: ReturnType<typeof companyFrom>): void {
  const { name } = company
  confirm({
    title: 'Make this account an organisation?',
    body: `The account is called ${name} from then on. This cannot be undone.`,
    action: 'Make it an organisation',
    isHarmless: true,
    async run() {
      await makeOrganisation(company)
      notifyDone(`${name} is an organisation now.`)
    },
  })
}
