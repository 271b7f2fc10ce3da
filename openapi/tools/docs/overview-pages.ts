import { type JsonObject, operationsOf, strings } from '../document.ts';
import { type Guide, leadOf } from './guides.ts';
import { guidesBySection } from './menu.ts';

/** The API reference: the component loads the renderer and both documents. */
export const referenceMarkdown = (openapi: JsonObject): string => `---
layout: page
title: API reference
description: Every path and every event, with a client that sends requests to this gateway.
sidebar: false
outline: false
operations: ${JSON.stringify(tagsOf(openapi))}
---

<ApiReference />
`;

/** The tag of each operation, for links that name an operation. A copy under another prefix is shown as its original. */
const tagsOf = (openapi: JsonObject) =>
  Object.fromEntries(operationsOf(openapi).map(({ id, node }) => [id, strings(node.tags)[0] ?? '']));

interface Card {
  title: string;
  text: string;
  link: string;
}

const cards = (entries: readonly Card[]) => `<ul class="cards">
${entries
  .map(
    ({ title, text, link }) =>
      `<li class="card"><a href="${link}"${link.includes('/docs/') ? '' : ' target="_self"'}><strong>${title}</strong></a><span>${text}</span></li>`,
  )
  .join('\n')}
</ul>`;

const firstCall = `::: code-group

\`\`\`sh [curl]
curl http://127.0.0.1:8080/v1/audio/speech \\
  -H "Authorization: Bearer $UNIGATE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
    "model": "alpha3-tts-flash",
    "voice": "Aria",
    "input": "Good morning."
  }' -o morning.wav
\`\`\`

\`\`\`ts [TypeScript]
import { writeFile } from 'node:fs/promises';
import { Unigate } from '@unigate/client';

const client = new Unigate({ baseUrl: 'http://127.0.0.1:8080' });
const audio = await client.speech.create({
  model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.',
});
await writeFile('morning.wav', await audio.bytes());
\`\`\`

\`\`\`py [Python]
import os
import requests

response = requests.post(
    "http://127.0.0.1:8080/v1/audio/speech",
    headers={"Authorization": f"Bearer {os.environ['UNIGATE_API_KEY']}"},
    json={
        "model": "alpha3-tts-flash",
        "voice": "Aria",
        "input": "Good morning.",
    },
)
open("morning.wav", "wb").write(response.content)
\`\`\`

\`\`\`ts [openai]
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: 'http://127.0.0.1:8080/v1', apiKey: process.env.UNIGATE_API_KEY,
});
const speech = await openai.audio.speech.create({
  model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.',
});
await writeFile('morning.wav', Buffer.from(await speech.arrayBuffer()));
\`\`\`

:::`;

/** The landing page, at the base address of the gateway. */
export const homeMarkdown = `---
layout: page
title: Unigate
titleTemplate: false
description: One base address and one API key for speech, video, music, 3D, images, embeddings and messages.
pageClass: landing-page
---

<main class="landing vp-doc">
<section class="hero">
<div class="pitch">

# One key for speech, video, music, 3D, images, embeddings and messages {#unigate}

This is the base address of a Unigate gateway. A request names a model. The gateway selects the provider account, meters
the call, and returns the response in the format of the request.

<p class="actions">
<a class="button primary" href="/__home__/docs/quick-start">Quick start</a>
<a class="button" href="/__home__/docs/reference">API reference</a>
</p>

</div>
<div class="first-call">

${firstCall}

</div>
</section>
${cards([
  {
    title: 'Documentation',
    text: 'Guides for speech, tasks, webhooks, realtime sessions and operation.',
    link: '/__home__/docs/',
  },
  {
    title: 'API reference',
    text: 'Every path and every event. You can send requests from the page.',
    link: '/__home__/docs/reference',
  },
  {
    title: 'Console',
    text: 'Play with each model, and watch tasks, usage and keys.',
    link: '/__home__/console',
  },
  {
    title: 'Contract files',
    text: 'Every path as OpenAPI 3.1, and every event as <a href="/__home__/asyncapi.json">AsyncAPI 3.0</a>.',
    link: '/__home__/openapi.json',
  },
])}
</main>
`;

/** The overview of the documentation, with a card for each guide by section. */
export const overviewMarkdown = (guides: readonly Guide[]): string => `---
title: Documentation
description: Guides, models, errors and the API reference of the gateway.
sidebar: true
aside: false
editLink: false
---

# Documentation

One base address and one API key in front of speech, video, music, 3D, images, embeddings and messages.

${guidesBySection(guides)
  .map(
    ([section, found]) =>
      `## ${section}\n\n${cards(
        found.map(({ name, title, markdown }) => ({
          title,
          text: inline(leadOf(markdown)),
          link: `/__home__/docs/${name}`,
        })),
      )}`,
  )
  .join('\n\n')}

## Reference

${cards([
  {
    title: 'API reference',
    text: 'Every path and every event. You can send requests from the page.',
    link: '/__home__/docs/reference',
  },
  {
    title: 'Errors',
    text: 'When each code occurs, and how to handle it.',
    link: '/__home__/docs/errors',
  },
  { title: 'Changelog', text: 'What changed in each version.', link: '/__home__/docs/changelog' },
])}
`;

/** Renders the code spans of a line as HTML, and links as their text. */
const inline = (line: string): string =>
  line
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '&#123;&#123;')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/`([^`]+)`/g, '<code v-pre>$1</code>');
