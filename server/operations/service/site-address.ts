/** The address of a gateway in the files of a site. It is safe in HTML attributes and in quoted strings of scripts. */
export interface SiteAddress {
  /** Scheme and host. */
  origin: string;
  /** Path of the gateway, with slashes at both ends. */
  home: string;
}

const defaultOrigin = 'http://127.0.0.1:8080';

/** Returns the address for a base URL. A host with unusual characters is not shown, because a client selects it. */
export function addressOf(baseUrl: string | undefined): SiteAddress {
  const url = URL.parse(baseUrl ?? '');
  if (url === null) return { origin: defaultOrigin, home: '/' };
  const path = url.pathname.replace(/[^\w./~%-]/g, (character) => encodeURIComponent(character));
  return {
    origin: /^[\w.:[\]-]+$/.test(url.host) ? `${url.protocol}//${url.host}` : defaultOrigin,
    // encodeURIComponent leaves an apostrophe.
    home: `${path.replaceAll("'", '%27').replace(/\/$/, '')}/`,
  };
}
