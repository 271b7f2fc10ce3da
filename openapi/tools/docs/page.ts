/** A page of the documentation: its file name and its title in the menu. */
export interface PageEntry {
  file: string;
  title: string;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML content and attributes. */
export const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');

/**
 * Renders a complete page. `menu` lists all pages, and `folder` is the path from this page to them. `body` is HTML. A
 * `wide` page uses the full width and its own styles.
 */
export function page(
  { file, title }: PageEntry,
  body: string,
  { menu, folder = '', wide = false }: { menu: readonly PageEntry[]; folder?: string; wide?: boolean },
): string {
  const links = menu.map((entry) => {
    const here = entry.file === file ? ' aria-current="page"' : '';
    return `<li><a href="${folder}${entry.file}"${here}>${escaped(entry.title)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Unigate</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}site.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<nav aria-label="Documentation">
<ul>
${links.join('\n')}
</ul>
</nav>
</header>
<main id="content" tabindex="-1"${wide ? '' : ' class="text"'}>
${body.trim()}
</main>
</body>
</html>
`;
}
