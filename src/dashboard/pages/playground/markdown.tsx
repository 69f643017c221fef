/** Renders an answer's Markdown: HTML stays text, images become links, links send no referrer. */
import { Anchor, Box, Text, Typography } from '@mantine/core'
import { Children, isValidElement, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from '@/dashboard/components/code-block'

/** Allowed link targets. The dashboard's own pages and scripts are not allowed. */
const WEB_ADDRESS = /^(https?:\/\/|mailto:)/i
const PLUGINS = [remarkGfm]

export function Markdown({ text }: { text: string }) {
  return (
    <Typography className="answer wrap-anywhere" fz="sm">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        components={COMPONENTS}
        urlTransform={(url) => (WEB_ADDRESS.test(url) ? url : '')}
      >
        {text}
      </ReactMarkdown>
    </Typography>
  )
}

/** Headings of an answer are rendered as paragraphs, so that screen readers only find the page's own headings. */
function Heading({ children }: { children?: ReactNode }) {
  return (
    <Text fw={650} size="sm" component="p">
      {children}
    </Text>
  )
}

function WebLink({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  if (!href) return <span>{children}</span>
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow" inherit td="underline">
      {children}
    </Anchor>
  )
}

const COMPONENTS: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  a: ({ href, children }) => <WebLink href={href}>{children}</WebLink>,
  img: ({ src, alt }) => <WebLink href={typeof src === 'string' ? src : undefined}>{alt || 'Image'}</WebLink>,
  pre: ({ children }) => <CodeBlock code={textOf(children).replace(/\n$/, '')} label="Code" isLandmark={false} />,
  // A checkbox that cannot be ticked would have no label, so a symbol is shown.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'}</span>,
  table: ({ children }) => (
    <Box className="scroll-x" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </Box>
  ),
}

function textOf(node: ReactNode): string {
  return Children.toArray(node)
    .map((child) => {
      if (typeof child === 'string') return child
      return isValidElement<{ children?: ReactNode }>(child) ? textOf(child.props.children) : ''
    })
    .join('')
}
