// The newest picture from the server, over any number of sleeps and outages.

const SILENCE = 12_000; // the server says something every 5 s
const AGAIN = 1_000;

/** Calls picture(document) for each picture, link(up) when the stream comes or goes, over() when
 * the server has ended it for good. */
export function follow(address, { picture, link = () => {}, over = () => {} }) {
  let source = null;
  let heard = Date.now();
  let timer = null;

  function open() {
    clearTimeout(timer);
    source?.close();
    heard = Date.now();
    source = new EventSource(address);
    source.addEventListener("picture", (event) => {
      heard = Date.now();
      link(true);
      picture(JSON.parse(event.data));
    });
    source.addEventListener("beat", () => {
      heard = Date.now();
      link(true);
    });
    source.addEventListener("over", () => {
      source.close();
      clearInterval(watch);
      over();
    });
    source.onerror = () => {
      link(false);
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN);
    };
  }

  function check() {
    if (Date.now() - heard > SILENCE) {
      link(false);
      open();
    }
  }

  const watch = setInterval(check, AGAIN);
  for (const event of ["visibilitychange", "pageshow", "online"]) {
    addEventListener(event, check);
  }
  open();
}
