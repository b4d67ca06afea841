"""Short and familiar forms of given names, each with the full forms it may stand for."""

from __future__ import annotations

_FORMS = """
abby: abigail
al: albert alan alfred alexander
alex: alexander alexandra alexandre alexei alejandro
ali: alison alexandra alicia
andy: andrew andreas anders andrea
angie: angela angelica
annie: anna anne
beth: elizabeth elisabeth bethany
betty: elizabeth elisabeth
bill: william
billy: william
bob: robert
bobby: robert
cathy: catherine katherine
charlie: charles charlotte
chris: christopher christian christine christina christoph
cindy: cynthia
dan: daniel
danny: daniel
dave: david
debbie: deborah
dick: richard
dima: dmitri dmitry
dora: theodora dorothea
ed: edward edmund edgar
eddie: edward edmund edgar
ella: elisabeth eleanor
fran: frances francis francesca
frank: francis franklin
fred: frederick alfred friedrich
fritz: friedrich
gabi: gabriele gabriela
greg: gregory
hans: johannes
harry: harold henry harrison
heidi: adelheid
jack: john
jan: johannes johan
jenny: jennifer
jim: james
jimmy: james
joe: joseph
joey: joseph
johnny: john
jon: jonathan
josh: joshua
judy: judith
kate: katherine catherine katharina
kathy: katherine kathleen
katie: katherine catherine
kathi: katharina
ken: kenneth
larry: lawrence
leo: leonard leonardo leopold
lena: helena magdalena
lisa: elisabeth elizabeth
liz: elizabeth elisabeth
lou: louis louise
maggie: margaret
manny: manuel emmanuel
marge: margaret
matt: matthew matthias
max: maximilian maxwell
meg: margaret megan
mia: maria amelia
mick: michael
mike: michael
mickey: michael
misha: mikhail michael
molly: mary
nat: nathan nathaniel natalie
nate: nathan nathaniel
nick: nicholas nicolas niklas
nicky: nicholas nicole
pat: patrick patricia
peggy: margaret
pete: peter
phil: philip philipp
pepe: jose
paco: francisco
ray: raymond
rich: richard
rick: richard
rob: robert
robbie: robert
ron: ronald
sam: samuel samantha
sandy: sandra alexander
sasha: alexander alexandra
sepp: josef
steve: steven stephen
sue: susan susanne
susi: susanne
ted: edward theodore
terry: terence theresa
theo: theodore theodor
tim: timothy
tina: christina martina bettina
toby: tobias
tom: thomas tomas
tommy: thomas
tony: anthony antonio anton
uli: ulrich ulrike
vicky: victoria
vova: vladimir
walt: walter
will: william wilhelm
willy: william wilhelm
zach: zachary
"""

FULL_FORMS: dict[str, frozenset[str]] = {
    nick.strip(): frozenset(forms.split()) for nick, forms in (line.split(":") for line in _FORMS.strip().splitlines())
}
"""Familiar form to the full forms it may stand for, all folded and lower-case."""


def forms_of(given: str) -> frozenset[str]:
    """A given name with every full form it may stand for."""
    return FULL_FORMS.get(given, frozenset()) | {given}


def same_given_name(one: str, other: str) -> bool:
    """Whether two given names may be one person's: a familiar form and its full one, or a clear shortening."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and (long.startswith(short) or long in FULL_FORMS.get(short, ()) or _meet(one, other))


def _meet(one: str, other: str) -> bool:
    """Two familiar forms of one full name, such as Bill and Will."""
    return bool(FULL_FORMS.get(one, frozenset()) & FULL_FORMS.get(other, frozenset()))
