/** Opens a session's page and submits its form like a browser without scripts. */
export async function decideOn(h5Link: string, decision: 'approve' | 'reject'): Promise<Response> {
  const page = await fetch(h5Link);
  const html = await page.text();
  const [, action] = /<form method="post" action="([^"]+)">/.exec(html) ?? [];
  const [, token] = /<input type="hidden" name="token" value="([^"]+)">/.exec(html) ?? [];
  const isOffered = html.includes(`name="decision" value="${decision}"`);
  if (action === undefined || token === undefined || !isOffered)
    throw new Error(`${page.status}: the page offers no decision ${decision}`);
  return submit(h5Link, action.replaceAll('&amp;', '&'), { token, decision });
}

/** Submits the form without following redirects. */
export function submit(page: string, action: string, fields: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(new URL(action, page), { method: 'POST', body, redirect: 'manual' });
}
