import { openBrowser } from "./browser.mjs";
import { serve, TOKEN } from "./mock.mjs";
const b = await openBrowser(); const { mock, url } = await serve("ring8", "/tmp/wt/web/web/dist");
    for (let at = 0; at < 40; at++) mock.advance(50000);
    mock.act(new URLSearchParams({ do: "cut", link: "3" }));
    for (let at = 0; at < 14; at++) mock.advance(50000);
for (const theme of ["light","dark"]) {
const ctx = await b.newContext({viewport:{width:1400,height:860}, colorScheme:theme}); const page = await ctx.newPage();
page.on("console", m=>console.log(m.text())); page.on("pageerror", e=>console.log("ERR",e)); page.on("request", r=>console.log(r.url())); page.on("requestfinished", r=>console.log("done",r.url()));
await page.goto(`${url}/#token=${TOKEN}&tab=change`+(theme=="dark"?"&colour=load":""));
await new Promise(r=>setTimeout(r,4000));
console.log(await Promise.race([page.evaluate(()=>document.documentElement.outerHTML.slice(0,60)), new Promise(r=>setTimeout(()=>r("evaluate hangs"),4000))]));
 await ctx.close();
}
await b.close(); mock.close(); process.exit(0)
