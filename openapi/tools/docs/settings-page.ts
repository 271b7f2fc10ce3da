import { deref, type Json, type JsonObject, objects, strings, text } from '../document.ts';
import { prose } from './markdown-text.ts';
import { typeOf } from './schema-table.ts';

/** Returns the settings of the configuration file as Markdown, with a heading for each. */
export function settingsMarkdown(schema: JsonObject): string {
  return `# Settings

The settings of the configuration file, which \`CONFIG\` names. [Deployment](/docs/deployment) shows a complete file and
lists the environment variables.

${settingsOf(schema, schema, '', 2).join('\n\n')}
`;
}

/** Returns a section for each property of a schema and of the schemas below it. */
function settingsOf(document: JsonObject, node: Json | undefined, prefix: string, level: number): string[] {
  const schema = deref(document, node);
  const required = strings(schema.required);
  return objects(schema.properties).flatMap(([name, own]) => {
    const path = `${prefix}${name}`;
    const property = { ...deref(document, own), ...own };
    const parts = [
      `${'#'.repeat(level)} \`${path}\` {#${path.replace(/[^\w.]+/g, '-')}}`,
      prose(text(property.description)),
      `Type: ${prose(typeOf(document, property))}${required.includes(name) ? ', required' : ''}.`,
    ];
    return [
      parts.filter((part) => part !== '').join('\n\n'),
      ...settingsOf(document, property, `${path}.`, 3),
      ...settingsOf(document, property.items, `${path}[].`, 3),
      ...settingsOf(document, property.additionalProperties, `${path}.NAME.`, 3),
    ];
  });
}
